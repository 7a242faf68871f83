/** Adapts the rendered proxy container to one pod. */
import { goJson, OrderedFields } from "../../golang/go_json.ts";
import type { MeshConfig } from "../../istio/mod.ts";
import { mapsAt, type ValueMap } from "../../base/value.ts";
import { withEnv, withKey } from "../pod/change.ts";
import { annotation, containerNamed, containersOf, type Pod, PROMETHEUS_ENV, PROXY } from "../pod/pod.ts";
import { statusPort } from "../postprocess/mod.ts";
import { rewritesProbes } from "../postprocess/probes.ts";
import { mergesMetrics } from "../postprocess/prometheus.ts";
import { withConcurrency } from "./arguments.ts";
import type { Bare } from "./earlier.ts";
import { has } from "./features.ts";
import { agentPort, type LegacyProbeSettings, withProbers } from "./probes.ts";
import type { SidecarSpec } from "./sidecar_spec.ts";

interface ProxyContext {
  readonly minor: number;
  readonly mesh: MeshConfig;
  readonly bare: Bare;
  readonly spec: SidecarSpec;
}

/** Returns the rendered lists with the proxy adapted to the pod. */
export function equip(spec: SidecarSpec, context: ProxyContext): SidecarSpec {
  const containers = spec.containers.map((container) =>
    container["name"] === PROXY ? ready(container, context) : container
  );
  return { ...spec, containers };
}

function ready(rendered: ValueMap, context: ProxyContext): ValueMap {
  const { bare: { pod, prometheus }, minor, mesh } = context;
  let proxy = withConcurrency(rendered);
  const port = probePort(pod, context);
  if (port !== undefined) proxy = withProbers(proxy, pod, port, probeSettings(context));
  if (has(minor, "prometheusMerge") && mergesMetrics(pod, mesh)) proxy = withMetricsSettings(proxy, pod, prometheus);
  const token = tokenMount(pod);
  return token === undefined ? proxy : withKey(proxy, "volumeMounts", [...mapsAt(proxy, "volumeMounts"), token]);
}

/** Sets the proxy's metrics settings from the pod's annotations, or from an earlier injection. */
function withMetricsSettings(proxy: ValueMap, pod: Pod, earlier: string | undefined): ValueMap {
  const fields = ["scrape", "path", "port"].map((key) => [key, annotation(pod, `prometheus.io/${key}`) ?? ""] as const);
  const isSet = fields.some(([, value]) => value !== "");
  const text = isSet ? goJson(new OrderedFields(fields)) : earlier;
  return text === undefined ? proxy : withEnv(proxy, PROMETHEUS_ENV, text);
}

/** The agent's port, if probes of the pod are rewritten. */
export function probePort(pod: Pod, context: ProxyContext): number | undefined {
  const proxy = containerNamed(context.spec.containers, PROXY);
  const settings = probeSettings(context);
  return proxy === undefined || !rewritesProbes(pod, context.spec.rewriteAppHTTPProbe)
    ? undefined
    : agentPort(pod, proxy, settings);
}

function probeSettings({ minor, mesh, bare }: ProxyContext): LegacyProbeSettings {
  return { minor, meshStatusPort: statusPort(mesh), earlier: bare.probers };
}

const TOKEN_PATH = "/var/run/secrets/kubernetes.io/serviceaccount";

/** The application's mount of the service account token. The proxy needs the same token to authenticate. */
function tokenMount(pod: Pod): ValueMap | undefined {
  const mounts = containersOf(pod, "containers").flatMap((container) => mapsAt(container, "volumeMounts"));
  return mounts.findLast((mount) => mount["mountPath"] === TOKEN_PATH);
}
