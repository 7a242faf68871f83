/** Post-processes a pod after the templates are merged. */
import { ANNOTATION, type MeshConfig } from "../../istio/mod.ts";
import { intAt, mapAt, valueAt, type ValueMap } from "../../base/value.ts";
import { withAnnotations } from "../pod/change.ts";
import { type Pod } from "../pod/pod.ts";
import { statusText } from "../pod/status.ts";
import { labelNetwork, type ProxyEnvs, setProxyEnvs } from "./cluster.ts";
import { reorder } from "./order.ts";
import { probeAbilities, rewriteProbes } from "./probes.ts";
import { annotateSecurePort, mergePrometheus } from "./prometheus.ts";

export interface PostContext {
  /** All templates merged into an empty pod. */
  readonly templatePod: Pod;
  /** The mesh configuration, including the pod's `proxy.istio.io/config`. */
  readonly mesh: MeshConfig;
  readonly values: ValueMap;
  readonly revision: string;
  readonly minor: number;
  readonly env: (name: string) => string | undefined;
  readonly proxyEnvs: ProxyEnvs;
  readonly injectedAnnotations: Readonly<Record<string, string>>;
  /** Whether the pod was injected before. */
  readonly reinjected: boolean;
}

/** Minor version of the first release whose status annotation contains the revision. */
const NAMES_REVISION = 11;

/** Runs all post-processing steps. Throws a MeshError if an annotation of the pod is invalid. */
export function postprocess(pod: Pod, context: PostContext): Pod {
  const { templatePod, mesh, values, revision, minor, proxyEnvs, injectedAnnotations, reinjected } = context;
  const port = statusPort(mesh);
  let result = setProxyEnvs(pod, proxyEnvs, reinjected);
  result = annotateSecurePort(
    mergePrometheus(result, mesh, { statusPort: String(port), minor }),
  );
  const rewriteByDefault = valueAt(values, "sidecarInjectorWebhook", "rewriteAppHTTPProbe") === true;
  const abilities = probeAbilities(minor, context.env);
  result = rewriteProbes(result, { rewriteByDefault, meshStatusPort: port, reinjected, abilities });
  const status = { [ANNOTATION.status]: statusText(templatePod, minor < NAMES_REVISION ? undefined : revision) };
  result = withAnnotations(labelNetwork(result, proxyEnvs), { ...status, ...injectedAnnotations });
  return reorder(result, holds(mesh, values));
}

/** Whether `holdApplicationUntilProxyStarts` is set, in the values or the mesh configuration. */
export function holds(mesh: MeshConfig, values: ValueMap): boolean {
  return mapAt(mesh.data, "defaultConfig")["holdApplicationUntilProxyStarts"] === true ||
    valueAt(values, "global", "proxy", "holdApplicationUntilProxyStarts") === true;
}

export function statusPort(mesh: MeshConfig): number {
  return intAt(mapAt(mesh.data, "defaultConfig"), "statusPort") ?? 15020;
}
