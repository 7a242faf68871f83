/**
 * Redirects HTTP probes of the application to the agent, by the rules of Istio 1.0 to 1.8: only HTTP probes of `containers` are
 * rewritten. The agents of 1.0 to 1.5 read bare `httpGet` objects, and listen on the port in the proxy's `--statusPort`.
 */
import { goJson, OrderedFields } from "../../golang/go_json.ts";
import type { GoValue } from "../../golang/gotemplate/mod.ts";
import { ANNOTATION } from "../../istio/mod.ts";
import { intAt, isMap, mapAt, textAt, type ValueMap } from "../../base/value.ts";
import { PROBERS_ENV } from "../names.ts";
import { withEnv, withKey } from "../pod/change.ts";
import { annotation, containersOf, type Pod, PROXY } from "../pod/pod.ts";
import { agentAction, earlierProbers, httpProber, portNumber } from "../postprocess/probes.ts";
import { flagValue } from "./arguments.ts";
import { has } from "./features.ts";

/** The inputs for rewriting probes, besides the pod. */
export interface LegacyProbeSettings {
  readonly minor: number;
  /** The agent's port in the mesh configuration. */
  readonly meshStatusPort: number;
  /** ISTIO_KUBE_APP_PROBERS from an earlier injection. */
  readonly earlier: string | undefined;
}

/** The probe fields, each with the last segment of the URL path where the agent serves the probe. */
const PROBES = [["readinessProbe", "readyz"], ["livenessProbe", "livez"], ["startupProbe", "startupz"]] as const;

/** The agent's port for a pod; `undefined` if the port is unknown, so that probes are not rewritten. */
export function agentPort(
  pod: Pod,
  proxy: ValueMap,
  { minor, meshStatusPort }: LegacyProbeSettings,
): number | undefined {
  const text = has(minor, "agentProbers")
    ? annotation(pod, ANNOTATION.statusPort)?.trim()
    : flagValue(proxy, "statusPort");
  if (text !== undefined && /^\d+$/.test(text)) return Number(text);
  return has(minor, "agentProbers") ? meshStatusPort : undefined;
}

/** Sets ISTIO_KUBE_APP_PROBERS on the proxy. Returns the same proxy if the application has no HTTP probes. */
export function withProbers(proxy: ValueMap, pod: Pod, port: number, settings: LegacyProbeSettings): ValueMap {
  const probers: Record<string, GoValue> = {};
  for (const [container, probe, path] of probesOf(pod, settings.minor)) {
    const prober = asksAgent(probe, path, port) ? undefined : proberOf(probe, container, settings.minor);
    if (prober !== undefined) probers[path] = prober;
  }
  const all = { ...probers, ...earlierProbers(settings.earlier) };
  return Object.keys(all).length === 0 ? proxy : withEnv(proxy, PROBERS_ENV, goJson(all));
}

/** Redirects the HTTP probes of an application container to the agent. */
export function rewriteContainer(container: ValueMap, port: number, minor: number): ValueMap {
  if (container["name"] === PROXY) return container;
  return probesIn(container, minor).reduce((result, [key, probe, path]) => {
    return withKey(result, key, withKey(probe, "httpGet", agentAction(mapAt(probe, "httpGet"), path, BigInt(port))));
  }, container);
}

type KeyedProbe = readonly [key: string, probe: ValueMap, path: string];

/** A container's HTTP probes that the release rewrites, each with the URL path where the agent serves the probe. */
function probesIn(container: ValueMap, minor: number): readonly KeyedProbe[] {
  return PROBES.flatMap(([key, end]): KeyedProbe[] => {
    const probe = container[key];
    if (!isMap(probe) || !isMap(probe["httpGet"])) return [];
    if (key === "startupProbe" && !has(minor, "startupProbes")) return [];
    return [[key, probe, `/app-health/${textAt(container, "name")}/${end}`]];
  });
}

function probesOf(pod: Pod, minor: number): readonly (readonly [ValueMap, ValueMap, string])[] {
  const own = containersOf(pod, "containers").filter((container) => container["name"] !== PROXY);
  return own.flatMap((container) =>
    probesIn(container, minor).map(([, probe, path]) => [container, probe, path] as const)
  );
}

/** Whether the probe already points to the agent, because an earlier injection rewrote it. */
function asksAgent(probe: ValueMap, path: string, port: number): boolean {
  const action = mapAt(probe, "httpGet");
  return textAt(action, "path") === path && intAt(action, "port") === port;
}

/** Returns the agent's entry for a probe; `undefined` if the probe names a port that does not exist. */
function proberOf(probe: ValueMap, container: ValueMap, minor: number): OrderedFields | undefined {
  const action = mapAt(probe, "httpGet");
  const port = portNumber(action["port"], container);
  if (port === undefined) return undefined;
  const request = httpProber(action, port);
  if (!has(minor, "agentProbers")) return request;
  const timeout = intAt(probe, "timeoutSeconds") ?? 0;
  return new OrderedFields([["httpGet", request], ...(timeout === 0 ? [] : [["timeoutSeconds", timeout] as const])]);
}
