/**
 * Handles Kubernetes objects without a cluster. The functions take generic data from YAML or JSON, and the name of a
 * type (`Pod`, `PodSpec`, `Container`). They return typed data as Kubernetes writes it (`decode`, `toGoJson`), a view for
 * a Go template (`goView`), the result of a strategic merge patch (`strategicMerge`), or the JSON patch from one object
 * to another (`jsonPatch`). Other functions handle quantities, label selectors, and object names in kubectl's form.
 */
export { fits } from "./decode/fits.ts";
export { decode, problemTexts } from "./decode/decode.ts";
export { jsonPatch, type PatchOperation } from "./patch/json_patch.ts";
export { PatchError } from "./patch/error.ts";
export {
  canonicalQuantity,
  compareQuantities,
  isQuantity,
  parseQuantity,
  quantityText,
  scaledValue,
} from "./text/quantity.ts";
export { resourceName } from "./text/names.ts";
export { type FieldType, type StructSchema, structSchema } from "./schema/schema.ts";
export { isEmptySelector, selectorMatches } from "./text/selector.ts";
export { strategicMerge } from "./patch/strategic_merge.ts";
export { strategicPatch } from "./patch/strategic_patch.ts";
export { toGoJson } from "./view/typed_json.ts";
export { goView } from "./view/view.ts";
