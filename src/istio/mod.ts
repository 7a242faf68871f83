/**
 * Mesh and proxy configuration, and Istio's annotations and labels. Parses a MeshConfig or ProxyConfig in YAML or JSON,
 * adds all defaults (`parseMeshConfig`, `mergeProxyConfig`) and finds problems. Returns views for templates
 * (`meshConfigView`, `proxyConfigView`) and the value of `PROXY_CONFIG` (`protoToJson`).
 */
export * from "./configuration.ts";
export { misspelledAnnotations, validateAnnotations } from "./annotations/validate.ts";
export { meshConfigView, proxyConfigView } from "./view/view.ts";
export { type UnknownField, unknownMeshFields, unknownProxyFields } from "./read/unknown_fields.ts";
export { DurationView } from "./view/view_types.ts";
