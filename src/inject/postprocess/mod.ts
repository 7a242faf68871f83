/** Post-processing after the templates are merged: a list of steps from pod to pod. */
import { ANNOTATION, type MeshConfig } from "../../istio/mod.ts";
import { intAt, mapAt, valueAt, type ValueMap } from "../../base/value.ts";
import { type Pod, withAnnotations } from "../pod/pod.ts";
import { statusText } from "../pod/status.ts";
import { labelNetwork, type ProxyEnvs, setProxyEnvs } from "./cluster.ts";
import { reorder } from "./order.ts";
import { rewriteProbes } from "./probes.ts";
import { annotateSecurePort, mergePrometheus } from "./prometheus.ts";

/** The inputs of the steps besides the pod. */
export interface PostContext {
  /** All templates merged: what is injected. */
  readonly templatePod: Pod;
  /** The mesh with the pod's `proxy.istio.io/config`. */
  readonly mesh: MeshConfig;
  readonly values: ValueMap;
  readonly revision: string;
  readonly proxyEnvs: ProxyEnvs;
  readonly injectedAnnotations: Readonly<Record<string, string>>;
  /** An earlier injection exists. */
  readonly reinjected: boolean;
}

type Step = (pod: Pod, context: PostContext) => Pod;

const STEPS: readonly Step[] = [
  function clusterEnvs(pod, { proxyEnvs, reinjected }) {
    return setProxyEnvs(pod, proxyEnvs, reinjected);
  },
  function prometheus(pod, { mesh }) {
    return mergePrometheus(pod, mesh, String(statusPort(mesh)));
  },
  annotateSecurePort,
  function probes(pod, { mesh, values, reinjected }) {
    const rewriteByDefault = valueAt(values, "sidecarInjectorWebhook", "rewriteAppHTTPProbe") === true;
    return rewriteProbes(pod, { rewriteByDefault, meshStatusPort: statusPort(mesh), reinjected });
  },
  function metadata(pod, { templatePod, revision, proxyEnvs, injectedAnnotations }) {
    const status = { [ANNOTATION.status]: statusText(templatePod, revision) };
    return withAnnotations(labelNetwork(pod, proxyEnvs), { ...status, ...injectedAnnotations });
  },
  function order(pod, { mesh, values }) {
    const byValues = valueAt(values, "global", "proxy", "holdApplicationUntilProxyStarts") === true;
    return reorder(pod, byValues || mapAt(mesh.data, "defaultConfig")["holdApplicationUntilProxyStarts"] === true);
  },
];

/** Runs all steps. Errors: the MeshError of a step with invalid input in the pod. */
export function postprocess(pod: Pod, context: PostContext): Pod {
  return STEPS.reduce((result, step) => step(result, context), pod);
}

/** The agent's port. */
export function statusPort(mesh: MeshConfig): number {
  return intAt(mapAt(mesh.data, "defaultConfig"), "statusPort") ?? 15020;
}
