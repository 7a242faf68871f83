/**
 * Mesh and proxy configuration, and Istio's annotations and labels. In: texts of MeshConfig and ProxyConfig. Out:
 * their data with all defaults (`parseMeshConfig`, `mergeProxyConfig`), their views for templates (`meshConfigView`,
 * `proxyConfigView`), the text of `PROXY_CONFIG` (`protoToJson`), and their problems.
 */
export * from "./configuration.ts";
export { misspelledAnnotations, validateAnnotations } from "./annotations/validate.ts";
export { meshConfigView, proxyConfigView } from "./view/view.ts";
export { type UnknownField, unknownMeshFields, unknownProxyFields } from "./read/unknown_fields.ts";
export { DurationView } from "./view/view_types.ts";
