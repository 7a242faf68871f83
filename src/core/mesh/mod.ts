/**
 * Mesh and proxy configuration, and Istio's annotations and labels. In: texts of MeshConfig and ProxyConfig as people
 * write them. Out: their data with all defaults (`parseMeshConfig`, `mergeProxyConfig`), as templates see them
 * (`meshConfigView`, `proxyConfigView`), as `PROXY_CONFIG` has them (`protoToJson`), and what is wrong with them.
 */
export { checkProxyConfig } from "./check_proxy.ts";
export { defaultProxyConfig, type MeshConfig, type ProxyConfig, withDefaultProxyConfig } from "./config.ts";
export { defaultsOf } from "./defaults.ts";
export type { Era } from "./era.ts";
export { mergeMeshConfig, mergeProxyConfig } from "./merge.ts";
export { applyProxyConfigAnnotation, parseMeshConfig, parseProxyConfig } from "./parse.ts";
export { meshConfigJson, protoToJson, proxyConfigJson } from "./proto_json.ts";
export { meshConfigView, proxyConfigView } from "./view.ts";
export { DurationView, GoDuration } from "./view_types.ts";
export { ANNOTATION, type AnnotationName } from "./annotation_names.ts";
export { type AnnotationInfo, annotationInfo, ANNOTATIONS } from "./annotations.ts";
export { LABEL } from "./labels.ts";
export {
  type AnnotationProblem,
  type Annotations,
  misspelledAnnotations,
  validateAnnotations,
} from "./validate_annotations.ts";
export {
  inboundTrafficPolicyMode,
  meshSettings,
  proxyImageType,
  proxySettings,
  wantsOtelServiceAttributes,
} from "./settings.ts";
export type { MeshSettings, ProxySettings } from "./settings_schema.ts";
