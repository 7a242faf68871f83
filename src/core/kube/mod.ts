/**
 * Kubernetes objects without a cluster. In: generic data as YAML or JSON gives it, and the name of a type (`Pod`,
 * `PodSpec`, `Container`; `workloadType` gives that of a kind). Out: typed data as Kubernetes writes it (`decode`,
 * `toGoJson`), what a Go template sees of it (`goView`), strategic merge patches applied to it (`strategicMerge`), the
 * JSON patch from one object to another (`jsonPatch`); also quantities, label selectors, and names as kubectl prints them.
 */
export { fits } from "./decode/fits.ts";
export { decode, type Decoded, type Problem } from "./decode/decode.ts";
export { jsonPatch, type PatchOperation } from "./patch/json_patch.ts";
export { PatchError } from "./patch/error.ts";
export {
  canonicalQuantity,
  compareQuantities,
  isQuantity,
  parseQuantity,
  type Quantity,
  quantityText,
  scaledValue,
} from "./text/quantity.ts";
export { resourceName } from "./text/resource_name.ts";
export { type Field, type FieldType, type StructSchema, structSchema, workloadType } from "./schema/schema.ts";
export { isEmptySelector, selectorMatches, type SelectorResult } from "./text/selector.ts";
export { strategicMerge } from "./patch/strategic_merge.ts";
export { toGoJson } from "./view/typed_json.ts";
export { goView } from "./view/view.ts";
