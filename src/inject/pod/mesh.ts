/** Computes the mesh configuration for one pod. Caches results, because many pods have the same annotation. */
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
  const own = text === undefined ? mesh : withAnnotation(mesh, text);
  return proxyOverlay === undefined ? own : withOverlay(own, proxyOverlay);
}

const MAX_CACHED = 256;
/** Maximum length of an annotation in the cache. Longer ones are rare, and would fill the memory of a long-running process. */
const MAX_TEXT = 8192;
const annotated = new WeakMap<MeshConfig, Map<string, MeshConfig>>();

function withAnnotation(mesh: MeshConfig, text: string): MeshConfig {
  let known = annotated.get(mesh);
  if (known === undefined) annotated.set(mesh, known = new Map());
  const cached = known.get(text);
  if (cached !== undefined) return cached;
  const result = applyProxyConfigAnnotation(mesh, text);
  if (known.size < MAX_CACHED && text.length < MAX_TEXT) known.set(text, result);
  return result;
}

const overlaid = new WeakMap<MeshConfig, WeakMap<ProxyConfig, MeshConfig>>();

function withOverlay(mesh: MeshConfig, overlay: ProxyConfig): MeshConfig {
  let known = overlaid.get(mesh);
  if (known === undefined) overlaid.set(mesh, known = new WeakMap());
  const cached = known.get(overlay);
  if (cached !== undefined) return cached;
  const result = withDefaultProxyConfig(mesh, mergeProxyConfig(defaultProxyConfig(mesh), overlay));
  known.set(overlay, result);
  return result;
}
