/** The rendered proxy made ready for one pod: what the template could not know. */
import type { MeshConfig } from "../../core/mesh/mod.ts";
import { mapsAt, type ValueMap } from "../../core/value.ts";
import { containerNamed, containersOf, type Pod, PROXY, withKey } from "../pod/pod.ts";
import { statusPort } from "../postprocess/mod.ts";
import { withConcurrency } from "./concurrency.ts";
import type { Bare } from "./earlier.ts";
import { has } from "./features.ts";
import { agentPort, type LegacyProbeSettings, tellProbes, wantsProbes } from "./probes.ts";
import { mergesMetrics, tellMetrics } from "./prometheus.ts";
import type { SidecarSpec } from "./sidecar_spec.ts";

/** What the proxy depends on. */
export interface ProxyContext {
  readonly minor: number;
  readonly mesh: MeshConfig;
  readonly bare: Bare;
  readonly spec: SidecarSpec;
}

/** What was rendered, with its proxy made ready; the same if there is no proxy in it. */
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
  if (port !== undefined) proxy = tellProbes(proxy, pod, port, probeSettings(context));
  if (has(minor, "prometheusMerge") && mergesMetrics(pod, mesh)) proxy = tellMetrics(proxy, pod, prometheus);
  const token = tokenMount(pod);
  return token === undefined ? proxy : withKey(proxy, "volumeMounts", [...mapsAt(proxy, "volumeMounts"), token]);
}

/** The agent's port, if probes of the pod are to be sent there. */
export function probePort(pod: Pod, context: ProxyContext): number | undefined {
  const proxy = containerNamed(context.spec.containers, PROXY);
  const settings = probeSettings(context);
  return proxy === undefined || !wantsProbes(pod, settings) ? undefined : agentPort(pod, proxy, settings);
}

function probeSettings({ minor, spec, mesh, bare }: ProxyContext): LegacyProbeSettings {
  return { minor, spec, meshStatusPort: statusPort(mesh), earlier: bare.probers };
}

const TOKEN_PATH = "/var/run/secrets/kubernetes.io/serviceaccount";

/** Where the application mounts the token of its service account: the proxy authenticates with the same. */
function tokenMount(pod: Pod): ValueMap | undefined {
  const mounts = containersOf(pod, "containers").flatMap((container) => mapsAt(container, "volumeMounts"));
  return mounts.findLast((mount) => mount["mountPath"] === TOKEN_PATH);
}
