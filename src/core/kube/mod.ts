/**
 * Kubernetes objects without a cluster. In: generic data as YAML or JSON gives it, and the name of a type (`Pod`,
 * `PodSpec`, `Container`; `workloadType` gives that of a kind). Out: typed data as Kubernetes writes it (`decode`,
 * `toGoJson`), what a Go template sees of it (`goView`), strategic merge patches applied to it (`strategicMerge`), the
 * JSON patch from one object to another (`jsonPatch`); also quantities, label selectors, and names as kubectl prints them.
 */
export { fits } from "./fits.ts";
export { decode, type Decoded, type Problem } from "./decode.ts";
export { jsonPatch, type PatchOperation } from "./json_patch.ts";
export { PatchError } from "./patch_error.ts";
export {
  canonicalQuantity,
  compareQuantities,
  isQuantity,
  parseQuantity,
  type Quantity,
  quantityText,
  scaledValue,
} from "./quantity.ts";
export { resourceName } from "./resource_name.ts";
export { type Field, type FieldType, type StructSchema, structSchema, workloadType } from "./schema.ts";
export { isEmptySelector, selectorMatches, type SelectorResult } from "./selector.ts";
export { strategicMerge } from "./strategic_merge.ts";
export { toGoJson } from "./typed_json.ts";
export { goView } from "./view.ts";
