/**
 * The part of `mod.ts` for programs in containers, which must start fast and stay small: no annotation checks and no
 * template views. The rest of `mod.ts` loads the Kubernetes types and the template engine.
 */
export { ANNOTATION, type AnnotationName } from "./annotations/names.ts";
export { checkProxyConfig } from "./validate/proxy.ts";
export { defaultProxyConfig, type MeshConfig, type ProxyConfig, withDefaultProxyConfig } from "./config.ts";
export { defaultsOf } from "./read/defaults.ts";
export { type Era, eraOf } from "./era.ts";
export { LABEL } from "./annotations/labels.ts";
export { mergeMeshConfig, mergeProxyConfig } from "./read/merge.ts";
export { applyProxyConfigAnnotation, parseMeshConfig, parseProxyConfig } from "./read/parse.ts";
export { protoToJson, proxyConfigJson } from "./write/proto_json.ts";
export {
  inboundTrafficPolicyMode,
  PROXY_PORTS,
  type ProxySettings,
  proxySettings,
  UNCAPTURED_PORTS,
} from "./settings.ts";
