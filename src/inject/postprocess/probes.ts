/**
 * Rewrites the probes of the application. The kubelet is outside the mesh, so it probes the agent, and the agent probes the
 * application. Every HTTP, TCP and gRPC handler becomes an HTTP handler that points to the agent. An environment variable
 * passes the original handlers to the agent.
 */
import { goJson, OrderedFields } from "../../golang/go_json.ts";
import type { GoValue } from "../../golang/gotemplate/mod.ts";
import { parseBool } from "../../golang/go_bool.ts";
import { ANNOTATION } from "../../istio/mod.ts";
import { intAt, isMap, mapAt, mapsAt, textAt, type Value, valueAt, type ValueMap } from "../../base/value.ts";
import { mapContainers, mapProxy, withAt, withEnv, withKey, withReplaced } from "../pod/change.ts";
import {
  allContainers,
  annotation,
  containersOf,
  envValue,
  findProxy,
  type Pod,
  PROBERS_ENV,
  PROXY,
} from "../pod/pod.ts";
import { parseObject } from "../pod/status.ts";

export interface ProbeSettings {
  /** `values.sidecarInjectorWebhook.rewriteAppHTTPProbe`. */
  readonly rewriteByDefault: boolean;
  readonly meshStatusPort: number;
  /** Whether the pod was injected before, so that its probes may be rewritten already. */
  readonly reinjected: boolean;
  readonly abilities: ProbeAbilities;
}

/** The handlers that a release's agent supports. */
export interface ProbeAbilities {
  /** The agent reads entries with the key `httpGet`. Before 1.6, it reads bare HTTP actions. */
  readonly keyed: boolean;
  readonly startup: boolean;
  readonly tcpSocket: boolean;
  readonly grpc: boolean;
  readonly lifecycle: boolean;
  readonly initContainers: boolean;
}

/** Returns the handlers that the agent of a release supports. Up to 1.18, `REWRITE_TCP_PROBES` can turn TCP off. */
export function probeAbilities(minor: number, env: (name: string) => string | undefined): ProbeAbilities {
  const isTcpOff = minor <= 18 && env("REWRITE_TCP_PROBES") === "false";
  return {
    keyed: minor >= 6,
    startup: minor >= 7,
    tcpSocket: minor >= 12 && !isTcpOff,
    grpc: minor >= 13,
    initContainers: minor >= 19,
    lifecycle: minor >= 25,
  };
}

/** A field of a container that may contain a handler, with the handler's URL path at the agent. */
interface Handler {
  readonly path: readonly string[];
  readonly url: (container: string) => string;
}

/** All container fields whose handlers injection may rewrite. */
export const HANDLERS: readonly Handler[] = [
  { path: ["readinessProbe"], url: (name) => `/app-health/${name}/readyz` },
  { path: ["livenessProbe"], url: (name) => `/app-health/${name}/livez` },
  { path: ["startupProbe"], url: (name) => `/app-health/${name}/startupz` },
  { path: ["lifecycle", "preStop"], url: (name) => `/app-lifecycle/${name}/prestopz` },
  { path: ["lifecycle", "postStart"], url: (name) => `/app-lifecycle/${name}/poststartz` },
];

/** Rewrites the handlers of a pod that has a proxy, if the pod's annotation or the values enable rewriting. */
export function rewriteProbes(pod: Pod, settings: ProbeSettings): Pod {
  if (findProxy(pod) === undefined || !rewritesProbes(pod, settings.rewriteByDefault)) return pod;
  const informed = informAgent(pod, settings);
  const port = podStatusPort(pod, settings.meshStatusPort);
  const rewrite = (container: ValueMap) => rewriteContainer(container, port, settings.abilities);
  const done = mapContainers(informed, "containers", rewrite);
  return settings.abilities.initContainers ? mapContainers(done, "initContainers", rewrite) : done;
}

/** Whether to rewrite a pod's probes, by its annotation or (without the annotation) by default. */
export function rewritesProbes(pod: Pod, byDefault: boolean): boolean {
  const text = annotation(pod, ANNOTATION.rewriteAppProbers);
  return (text === undefined ? undefined : parseBool(text)) ?? byDefault;
}

/** The agent's port for a pod, from its annotation or the mesh configuration. */
export function podStatusPort(pod: Pod, meshStatusPort: number): number {
  const text = annotation(pod, ANNOTATION.statusPort)?.trim() ?? "";
  return /^\d+$/.test(text) ? Number(text) : meshStatusPort;
}

/** Sets the agent's variable with the original handlers. Handlers recorded by an earlier injection take precedence. */
function informAgent(pod: Pod, { abilities, meshStatusPort, reinjected }: ProbeSettings): Pod {
  const probers = probersIn(pod, abilities, ({ port }) => typeof port !== "string" && Number(port) === meshStatusPort);
  if (Object.keys(probers).length === 0) return pod;
  return mapProxy(pod, (proxy) => {
    const earlier = reinjected ? earlierProbers(envValue(proxy, PROBERS_ENV)) : {};
    return withEnv(proxy, PROBERS_ENV, goJson({ ...probers, ...earlier }));
  });
}

/** Parses the probers that an earlier injection wrote to ISTIO_KUBE_APP_PROBERS. */
export function earlierProbers(text: string | undefined): Record<string, GoValue> {
  const probers = Object.entries(parseObject(text) ?? {});
  return Object.fromEntries(probers.flatMap(([url, prober]) => isMap(prober) ? [[url, inWrittenOrder(prober)]] : []));
}

/** Converts parsed JSON to values that keep their field order. */
function inWrittenOrder(value: Value): GoValue {
  if (Array.isArray(value)) return value.map(inWrittenOrder);
  return isMap(value)
    ? new OrderedFields(Object.entries(value).map(([key, item]) => [key, inWrittenOrder(item)]))
    : value;
}

/** Whether a handler's action already points to the agent. `url`: the handler's URL path at the agent. */
type AsksAgent = (action: ValueMap, url: string) => boolean;

/** Returns the agent's entry for each of the application's handlers that the agent supports, by URL path. */
export function probersIn(pod: Pod, abilities: ProbeAbilities, asksAgent: AsksAgent): Record<string, GoValue> {
  const containers = abilities.initContainers ? allContainers(pod) : containersOf(pod, "containers");
  const probers: Record<string, GoValue> = {};
  for (const container of containers.filter(({ name }) => name !== PROXY)) {
    for (const { path, url } of HANDLERS) {
      const handler = handlerAt(container, path, abilities);
      if (handler === undefined) continue;
      const at = url(textAt(container, "name"));
      const prober = proberOf(handler, container, (action) => asksAgent(action, at));
      if (prober !== undefined) probers[at] = abilities.keyed ? prober : prober.get("httpGet") ?? null;
    }
  }
  return probers;
}

/** The handler at a path; `undefined` if the agent does not support it. */
function handlerAt(container: ValueMap, path: readonly string[], abilities: ProbeAbilities): ValueMap | undefined {
  const handler = valueAt(container, ...path);
  const [field] = path;
  const isKnown = (field !== "lifecycle" || abilities.lifecycle) && (field !== "startupProbe" || abilities.startup);
  if (!isMap(handler) || !isKnown) return undefined;
  const isAble = isMap(handler["httpGet"]) ||
    (isMap(handler["tcpSocket"]) ? abilities.tcpSocket : abilities.grpc || !isMap(handler["grpc"]));
  return isAble ? handler : undefined;
}

/**
 * The agent's entry for a handler; `undefined` if the handler is not rewritten, has an unknown port, or already points
 * to the agent.
 */
function proberOf(
  handler: ValueMap,
  container: ValueMap,
  asksAgent: (action: ValueMap) => boolean,
): OrderedFields | undefined {
  const timeout = intAt(handler, "timeoutSeconds") ?? 0;
  const action = httpOrTcp(handler, container, asksAgent) ?? grpcOf(handler);
  if (action === undefined) return undefined;
  return new OrderedFields(timeout === 0 ? [action] : [action, ["timeoutSeconds", timeout]]);
}

function httpOrTcp(
  { httpGet, tcpSocket }: ValueMap,
  container: ValueMap,
  asksAgent: (action: ValueMap) => boolean,
): Field | undefined {
  const action = isMap(httpGet) ? httpGet : tcpSocket;
  if (!isMap(action)) return undefined;
  const port = portNumber(action["port"], container);
  if (port === undefined || asksAgent(action)) return undefined;
  return action === httpGet ? ["httpGet", httpProber(action, port)] : ["tcpSocket", tcpProber(action, port)];
}

function grpcOf({ httpGet, tcpSocket, grpc }: ValueMap): Field | undefined {
  return isMap(grpc) && !isMap(httpGet) && !isMap(tcpSocket) ? ["grpc", grpcProber(grpc)] : undefined;
}

type Field = [string, GoValue];

/** Resolves a port to its number. A name is looked up in the container's ports; `undefined` if the name is unknown. */
function portNumber(port: Value | undefined, container: ValueMap): number | undefined {
  if (typeof port !== "string") return port === undefined || port === null ? 0 : Number(port);
  const named = mapsAt(container, "ports").findLast((item) => item["name"] === port);
  return named === undefined ? undefined : intAt(named, "containerPort");
}

/** The agent's entry for an HTTP handler, with the fields of Kubernetes' HTTPGetAction. */
function httpProber(action: ValueMap, port: number): OrderedFields {
  const headers = mapsAt(action, "httpHeaders").map((header) =>
    new OrderedFields([["name", textAt(header, "name")], ["value", textAt(header, "value")]])
  );
  const fields: Field[] = [
    ["path", textAt(action, "path")],
    ["port", port],
    ["host", textAt(action, "host")],
    ["scheme", textAt(action, "scheme")],
    ["httpHeaders", headers],
  ];
  return new OrderedFields(fields.filter(([, value]) => value !== "" && !(Array.isArray(value) && value.length === 0)));
}

function tcpProber(action: ValueMap, port: number): OrderedFields {
  const host = textAt(action, "host");
  const fields: Field[] = [["port", port]];
  return new OrderedFields(host === "" ? fields : [...fields, ["host", host]]);
}

function grpcProber(action: ValueMap): OrderedFields {
  const service = action["service"];
  return new OrderedFields([["port", intAt(action, "port") ?? 0], [
    "service",
    typeof service === "string" ? service : null,
  ]]);
}

/** Redirects the handlers of an application container to the agent. */
export function rewriteContainer(container: ValueMap, port: number, abilities: ProbeAbilities): ValueMap {
  if (container["name"] === PROXY) return container;
  return HANDLERS.reduce((result, { path, url }) => {
    const handler = handlerAt(result, path, abilities);
    const rewritten = handler && rewrittenHandler(handler, url(textAt(container, "name")), BigInt(port));
    return rewritten === undefined ? result : withAt(result, path, rewritten);
  }, container);
}

/** Redirects a handler to the agent; `undefined` if the handler runs a command or sleeps. */
function rewrittenHandler(handler: ValueMap, url: string, port: bigint): ValueMap | undefined {
  const from = ["httpGet", "tcpSocket", "grpc"].find((each) => isMap(handler[each]));
  if (from === undefined) return undefined;
  const rewritten = withReplaced(handler, from, "httpGet", agentAction(mapAt(handler, "httpGet"), url, port));
  return withKey(withKey(rewritten, "tcpSocket", undefined), "grpc", undefined);
}

/** Redirects an HTTP action to the agent. The agent does not serve TLS, so HTTPS becomes HTTP. */
function agentAction(action: ValueMap, path: string, port: bigint): ValueMap {
  const pointed = withKey(withKey(action, "path", path), "port", port);
  return pointed["scheme"] === "HTTPS" ? withKey(pointed, "scheme", "HTTP") : pointed;
}
