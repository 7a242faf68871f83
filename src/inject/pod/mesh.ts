/** Computes the mesh configuration for one pod. Caches results, because many pods have the same annotation. */
import { oncePer } from "../../base/values/mod.ts";
import {
  ANNOTATION,
  applyProxyConfigAnnotation,
  defaultProxyConfig,
  mergeProxyConfig,
  type MeshConfig,
  type ProxyConfig,
  withDefaultProxyConfig,
} from "../../istio/mod.ts";
import { annotation, type Pod } from "./pod.ts";

interface Meshes {
  readonly mesh: MeshConfig;
  /** A ProxyConfig resource that selects the pod. */
  readonly proxyOverlay?: ProxyConfig | undefined;
}

/**
 * Merges the pod's annotation `proxy.istio.io/config` into the mesh's defaultConfig, and then the ProxyConfig resource that
 * selects the pod. The order is from Istio's EffectiveProxyConfig. Throws a MeshError for an invalid annotation.
 */
export function meshForPod(pod: Pod, { mesh, proxyOverlay }: Meshes): MeshConfig {
  const text = annotation(pod, ANNOTATION.proxyConfig);
  const own = text === undefined ? mesh : annotated(mesh)(text);
  return proxyOverlay === undefined ? own : overlaid(own)(proxyOverlay);
}

const MAX_CACHED = 256;
/** Maximum length of an annotation in the cache. Longer ones are rare, and would fill the memory of a long-running process. */
const MAX_TEXT = 8192;

const annotated = oncePer((mesh: MeshConfig) => {
  const known = new Map<string, MeshConfig>();
  return (text: string): MeshConfig => {
    const result = known.get(text) ?? applyProxyConfigAnnotation(mesh, text);
    if (known.size < MAX_CACHED && text.length < MAX_TEXT) known.set(text, result);
    return result;
  };
});

const overlaid = oncePer((mesh: MeshConfig) =>
  oncePer((overlay: ProxyConfig) => withDefaultProxyConfig(mesh, mergeProxyConfig(defaultProxyConfig(mesh), overlay)))
);
