/**
 * HTTP probes of the application's containers, which kubelet sends to the agent: as today, except that only HTTP probes of
 * `containers` are rewritten, and that the agents of 1.0 to 1.5 are told bare `httpGet` objects and listen where the
 * proxy's `--statusPort` says.
 */
import { goJson, OrderedFields } from "../../core/gojson.ts";
import type { GoValue } from "../../core/gotemplate/mod.ts";
import { parseBool } from "../../core/net.ts";
import { intAt, isMap, mapAt, mapsAt, textAt, type Value, type ValueMap } from "../../core/value.ts";
import { PROBERS_ENV, REWRITE_PROBES, STATUS_PORT } from "../names.ts";
import { annotation, containersOf, type Pod, PROXY, withEnv, withKey } from "../pod/pod.ts";
import { parseObject } from "../pod/status.ts";
import { flagValue } from "./arguments.ts";
import { has } from "./features.ts";
import type { SidecarSpec } from "./sidecar_spec.ts";

/** What rewriting depends on besides the pod. */
export interface LegacyProbeSettings {
  readonly minor: number;
  readonly spec: SidecarSpec;
  /** The agent's port in the mesh configuration. */
  readonly meshStatusPort: number;
  /** What the proxy of an earlier injection had been told. */
  readonly earlier: string | undefined;
}

/** The probes, and the end of the agent's path for each. */
const PROBES = [["readinessProbe", "readyz"], ["livenessProbe", "livez"], ["startupProbe", "startupz"]] as const;

/** Whether probes of a pod are rewritten: its annotation says it, else the template. */
export function wantsProbes(pod: Pod, { spec }: LegacyProbeSettings): boolean {
  const text = annotation(pod, REWRITE_PROBES);
  return (text === undefined ? undefined : parseBool(text)) ?? spec.rewriteAppHTTPProbe;
}

/** The agent's port for a pod; `undefined` if nothing tells it, and probes stay what they are. */
export function agentPort(
  pod: Pod,
  proxy: ValueMap,
  { minor, meshStatusPort }: LegacyProbeSettings,
): number | undefined {
  const text = has(minor, "agentProbers") ? annotation(pod, STATUS_PORT)?.trim() : flagValue(proxy, "statusPort");
  if (text !== undefined && /^\d+$/.test(text)) return Number(text);
  return has(minor, "agentProbers") ? meshStatusPort : undefined;
}

/** The proxy with the variable that tells the agent the application's probes; the same proxy if there are none. */
export function tellProbes(proxy: ValueMap, pod: Pod, port: number, settings: LegacyProbeSettings): ValueMap {
  const probers: Record<string, GoValue> = {};
  for (const [container, probe, path] of probesOf(pod, settings.minor)) {
    const prober = asksAgent(probe, path, port) ? undefined : proberOf(probe, container, settings.minor);
    if (prober !== undefined) probers[path] = prober;
  }
  const all = { ...probers, ...earlierProbers(settings.earlier) };
  return Object.keys(all).length === 0 ? proxy : withEnv(proxy, PROBERS_ENV, goJson(all));
}

/** A container of the application with its probes sent to the agent. */
export function rewriteContainer(container: ValueMap, port: number, minor: number): ValueMap {
  if (container["name"] === PROXY) return container;
  return probesIn(container, minor).reduce((result, [key, probe, path]) => {
    return withKey(result, key, withKey(probe, "httpGet", agentAction(mapAt(probe, "httpGet"), path, port)));
  }, container);
}

function agentAction(action: ValueMap, path: string, port: number): ValueMap {
  const asked = withKey(withKey(action, "path", path), "port", BigInt(port));
  return asked["scheme"] === "HTTPS" ? withKey(asked, "scheme", "HTTP") : asked;
}

type KeyedProbe = readonly [key: string, probe: ValueMap, path: string];

/** The HTTP probes of a container that the release rewrites, with the agent's path for each. */
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

/** An earlier injection has rewritten it. */
function asksAgent(probe: ValueMap, path: string, port: number): boolean {
  const action = mapAt(probe, "httpGet");
  return textAt(action, "path") === path && intAt(action, "port") === port;
}

function earlierProbers(text: string | undefined): Record<string, GoValue> {
  const probers = Object.entries(parseObject(text) ?? {});
  return Object.fromEntries(probers.flatMap(([path, prober]) => isMap(prober) ? [[path, asWritten(prober)]] : []));
}

/** JSON that was read keeps the order of its fields. */
function asWritten(value: Value): GoValue {
  if (Array.isArray(value)) return value.map(asWritten);
  if (!isMap(value)) return value;
  return new OrderedFields(Object.entries(value).map(([key, item]) => [key, asWritten(item)]));
}

/** `undefined` where the port is a name that the container's ports do not have. */
function proberOf(probe: ValueMap, container: ValueMap, minor: number): OrderedFields | undefined {
  const action = mapAt(probe, "httpGet");
  const port = portNumber(action["port"], container);
  if (port === undefined) return undefined;
  const request = httpGet(action, port);
  if (!has(minor, "agentProbers")) return request;
  const timeout = intAt(probe, "timeoutSeconds") ?? 0;
  return new OrderedFields([["httpGet", request], ...(timeout === 0 ? [] : [["timeoutSeconds", timeout] as const])]);
}

function portNumber(port: Value | undefined, container: ValueMap): number | undefined {
  if (typeof port !== "string") return Number(port ?? 0);
  const named = mapsAt(container, "ports").findLast((item) => item["name"] === port);
  return named === undefined ? undefined : intAt(named, "containerPort");
}

/** The JSON of Kubernetes' HTTPGetAction. */
function httpGet(action: ValueMap, port: number): OrderedFields {
  const headers = mapsAt(action, "httpHeaders").map((header) =>
    new OrderedFields([["name", textAt(header, "name")], ["value", textAt(header, "value")]])
  );
  const fields: (readonly [string, GoValue])[] = [
    ["path", textAt(action, "path")],
    ["port", port],
    ["host", textAt(action, "host")],
    ["scheme", textAt(action, "scheme")],
    ["httpHeaders", headers],
  ];
  return new OrderedFields(fields.filter(([, value]) => value !== "" && !(Array.isArray(value) && value.length === 0)));
}
