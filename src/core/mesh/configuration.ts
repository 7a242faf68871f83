/**
 * The part of this package that is about configuration alone: for programs that start often and must be small. What else
 * `mod.ts` has brings the types of Kubernetes and the engine of templates with it.
 */
export { ANNOTATION, type AnnotationName } from "./annotations/names.ts";
export { checkProxyConfig } from "./validate/proxy.ts";
export { defaultProxyConfig, type MeshConfig, type ProxyConfig, withDefaultProxyConfig } from "./config.ts";
export { defaultsOf } from "./read/defaults.ts";
export type { Era } from "./era.ts";
export { LABEL } from "./annotations/labels.ts";
export { mergeMeshConfig, mergeProxyConfig } from "./read/merge.ts";
export { applyProxyConfigAnnotation, parseMeshConfig, parseProxyConfig } from "./read/parse.ts";
export { meshConfigJson, protoToJson, proxyConfigJson } from "./write/proto_json.ts";
export {
  inboundTrafficPolicyMode,
  meshSettings,
  proxyImageType,
  proxySettings,
  wantsOtelServiceAttributes,
} from "./settings.ts";
export type { MeshSettings, ProxySettings } from "./settings_schema.ts";
