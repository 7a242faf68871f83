/**
 * Mesh and proxy configuration, and Istio's annotations and labels. In: texts of MeshConfig and ProxyConfig as people
 * write them. Out: their data with all defaults (`parseMeshConfig`, `mergeProxyConfig`), as templates see them
 * (`meshConfigView`, `proxyConfigView`), as `PROXY_CONFIG` has them (`protoToJson`), and what is wrong with them.
 */
export * from "./configuration.ts";
export { type AnnotationInfo, annotationInfo, ANNOTATIONS } from "./annotations/annotations.ts";
export {
  type AnnotationProblem,
  type Annotations,
  misspelledAnnotations,
  validateAnnotations,
} from "./annotations/validate.ts";
export { meshConfigView, proxyConfigView } from "./view/view.ts";
export { DurationView, GoDuration } from "./view/view_types.ts";
