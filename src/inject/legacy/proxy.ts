/** Adapts the rendered proxy container to one pod. The agents of 1.0 to 1.5 listen on the port in the proxy's `--statusPort`. */
import { goJson, OrderedFields } from "../../golang/go_json.ts";
import type { MeshConfig } from "../../istio/mod.ts";
import { intAt, mapAt, mapsAt, textAt, textsAt, type ValueMap } from "../../base/value.ts";
import { mapContainers, withEnv, withKey } from "../pod/change.ts";
import { annotation, containerNamed, containersOf, type Pod, PROBERS_ENV, PROMETHEUS_ENV, PROXY } from "../pod/pod.ts";
import { statusPort } from "../postprocess/mod.ts";
import {
  earlierProbers,
  podStatusPort,
  probeAbilities,
  probersIn,
  rewriteContainer,
  rewritesProbes,
} from "../postprocess/probes.ts";
import { mergesMetrics } from "../postprocess/prometheus.ts";
import type { Bare } from "./earlier.ts";
import { has } from "./features.ts";
import type { SidecarSpec } from "./sidecar_spec.ts";
import { parseQuantity, scaledValue } from "../../kube/mod.ts";

interface ProxyContext {
  readonly minor: number;
  readonly mesh: MeshConfig;
  readonly bare: Bare;
  /** The agent's port, if probes of the pod are rewritten. */
  readonly port: number | undefined;
}

/** Returns the rendered lists with the proxy adapted to the pod. */
export function equip(spec: SidecarSpec, context: ProxyContext): SidecarSpec {
  const containers = spec.containers.map((container) =>
    container["name"] === PROXY ? ready(container, context) : container
  );
  return { ...spec, containers };
}

function ready(rendered: ValueMap, { bare: { pod, prometheus, probers }, minor, mesh, port }: ProxyContext): ValueMap {
  let proxy = withConcurrency(rendered);
  if (port !== undefined) proxy = withProbers(proxy, pod, port, { minor, earlier: probers });
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

/** The agent's port for a pod; `undefined` if the pod's probes are not rewritten, or the port is unknown. */
export function probePort(pod: Pod, spec: SidecarSpec, minor: number, mesh: MeshConfig): number | undefined {
  const proxy = containerNamed(spec.containers, PROXY);
  if (proxy === undefined || !rewritesProbes(pod, spec.rewriteAppHTTPProbe)) return undefined;
  if (has(minor, "agentProbers")) return podStatusPort(pod, statusPort(mesh));
  const text = flagValue(proxy, "statusPort") ?? "";
  return /^\d+$/.test(text) ? Number(text) : undefined;
}

/**
 * Sets ISTIO_KUBE_APP_PROBERS on the proxy. `earlier`: its value from an earlier injection. Returns the same proxy if the
 * application has no HTTP probes.
 */
export function withProbers(
  proxy: ValueMap,
  pod: Pod,
  port: number,
  { minor, earlier }: { readonly minor: number; readonly earlier: string | undefined },
): ValueMap {
  const asksAgent = (action: ValueMap, url: string) => textAt(action, "path") === url && intAt(action, "port") === port;
  const all = { ...probersIn(pod, abilitiesOf(minor), asksAgent), ...earlierProbers(earlier) };
  return Object.keys(all).length === 0 ? proxy : withEnv(proxy, PROBERS_ENV, goJson(all));
}

/** Redirects the HTTP probes of the application containers to the agent. */
export function redirected(pod: Pod, port: number, minor: number): Pod {
  return mapContainers(pod, "containers", (container) => rewriteContainer(container, port, abilitiesOf(minor)));
}

function abilitiesOf(minor: number) {
  return probeAbilities(minor, () => undefined);
}

const TOKEN_PATH = "/var/run/secrets/kubernetes.io/serviceaccount";

/** The application's mount of the service account token. The proxy needs the same token to authenticate. */
function tokenMount(pod: Pod): ValueMap | undefined {
  const mounts = containersOf(pod, "containers").flatMap((container) => mapsAt(container, "volumeMounts"));
  return mounts.findLast((mount) => mount["mountPath"] === TOKEN_PATH);
}

/** The value after `--name`, `-name` or `--name=`; `undefined` if the flag is missing or is the last argument. */
export function flagValue(container: ValueMap, name: string): string | undefined {
  const args = textsAt(container, "args");
  const flags = args.map((arg) => /^--?([^=]*)(?:=(\d+))?$/.exec(arg.trim()));
  const at = flags.findIndex((flag) => flag?.[1] === name);
  return at < 0 ? undefined : flags[at]?.[2] ?? args[at + 1];
}

/**
 * Adds `--concurrency`, which old templates leave to the injector. The value is the CPU limit, or the CPU request if
 * there is no limit, rounded up. Returns the same container if the flag is above 0 already, or if the container has no
 * CPU limit and no CPU request.
 */
export function withConcurrency(proxy: ValueMap): ValueMap {
  if (Number(flagValue(proxy, "concurrency") ?? 0) > 0) return proxy;
  const resources = mapAt(proxy, "resources");
  const cpus = wholeCpus(mapAt(resources, "limits")) || wholeCpus(mapAt(resources, "requests"));
  return cpus === 0 ? proxy : withKey(proxy, "args", [...textsAt(proxy, "args"), "--concurrency", String(cpus)]);
}

function wholeCpus(quantities: ValueMap): number {
  const quantity = parseQuantity(String(quantities["cpu"] ?? "0"));
  return quantity === undefined ? 0 : Math.max(0, Math.ceil(Number(scaledValue(quantity, -3)) / 1000));
}
