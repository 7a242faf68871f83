/** Envoy's response flags: the meaning, the stations that can set the flag, and what to check next. */
import { UsageError } from "../../base/errors.ts";
import { parseJson } from "../../base/json.ts";
import { closest } from "../../base/text/mod.ts";
import { isMap, textAt } from "../../base/value.ts";
import { joinHostPort, parseAddress, splitHostPort } from "../../golang/net/mod.ts";
import type { Answer, Station, StationKind } from "../answer_schema.ts";
import type { Connection } from "../question/question.ts";

type Flag = readonly [meaning: string, kinds: readonly StationKind[], next: string];

/** The response flags in Envoy's documentation of access logs, `%RESPONSE_FLAGS%` (source/common/stream_info/utility.h). */
const FLAGS: Readonly<Record<string, Flag>> = {
  DC: ["the client closed the connection", ["application"], "the client's timeout and its log"],
  DI: ["an injected fault delayed the request", ["route"], "spec.http.fault of the VirtualService"],
  DF: [
    "the name of the endpoint could not be resolved",
    ["cluster", "endpoint"],
    "the DNS records of the ServiceEntry's host",
  ],
  DO: [
    "the cluster drops a share of the requests",
    ["cluster"],
    "drop_overloads of the cluster's endpoints, which an EnvoyFilter or the control plane sets",
  ],
  DPE: [
    "the client sent data that is not valid for the HTTP version of this port",
    ["filter-chain"],
    "the name or appProtocol of the Service's port",
  ],
  DR: ["the client reset the stream", ["application"], "the client's timeout and its log"],
  DT: [
    "the request or the connection exceeded its time limit",
    ["route", "cluster"],
    "the timeout of the VirtualService and the idle timeouts of the DestinationRule",
  ],
  FI: ["an injected fault aborted the request", ["route"], "spec.http.fault of the VirtualService"],
  IH: ["a request header has an invalid value", ["route"], "the request's headers"],
  LH: ["the endpoint's health check failed", ["endpoint"], "the readiness of the endpoint's pod"],
  LR: ["Envoy itself reset the connection", ["cluster", "endpoint"], "Envoy's log, and whether Envoy is draining"],
  NC: [
    "Envoy does not have the route's cluster",
    ["cluster"],
    "the subsets of the DestinationRule, and whether the host is visible to this pod (exportTo, Sidecar)",
  ],
  NFCF: [
    "Envoy did not receive the configuration of a filter in time",
    ["listener", "filter-chain"],
    "the EnvoyFilter or WasmPlugin of the filter (ECDS), and Envoy's log",
  ],
  NR: [
    "no route or filter chain matches the request",
    ["route", "filter-chain"],
    "the hosts and matches of the VirtualService, and the mTLS mode of the port",
  ],
  OM: ["Envoy rejects requests because of overload", ["listener"], "the memory of the proxy"],
  RFCF: ["Envoy's cache filter returned a stored response", ["route"], "the cache filter, which an EnvoyFilter adds"],
  RL: [
    "the request exceeded a rate limit",
    ["route", "authorization"],
    "the rate limit filters, which an EnvoyFilter adds",
  ],
  RLSE: ["the rate limit service failed", ["route"], "the rate limit service"],
  SI: ["the stream was idle for too long", ["route"], "timeouts of the route"],
  UAEX: [
    "the external authorization denied the request",
    ["authorization"],
    "the provider of the CUSTOM AuthorizationPolicy",
  ],
  UC: [
    "the endpoint closed the connection",
    ["tls", "endpoint", "port"],
    "the log of the server's proxy and application: keep-alive timeouts, a crash, mutual TLS",
  ],
  UDO: [
    "the cluster drops every request",
    ["cluster"],
    "drop_overloads of the cluster's endpoints, which an EnvoyFilter or the control plane sets",
  ],
  UF: [
    "Envoy could not connect to the endpoint",
    ["tls", "endpoint", "port"],
    "the application's port, NetworkPolicies, and the TLS settings of both sides",
  ],
  UH: [
    "no healthy endpoint",
    ["endpoint"],
    "the readiness of the pods, outlier detection, and the labels of the subset",
  ],
  UMSDR: ["the request exceeded its maximum duration", ["route"], "maxStreamDuration"],
  UO: ["a circuit breaker is open", ["cluster"], "spec.trafficPolicy.connectionPool of the DestinationRule"],
  UPE: [
    "the endpoint's response does not use the expected protocol",
    ["cluster", "port"],
    "the name or appProtocol of the Service's port",
  ],
  UR: ["the endpoint reset the stream", ["endpoint", "port"], "the log of the server's proxy and application"],
  URX: [
    "all retries or connection attempts failed",
    ["route", "endpoint"],
    "the other flags of the request, and the retries of the VirtualService",
  ],
  UT: [
    "the endpoint did not answer in time",
    ["route", "endpoint"],
    "spec.http.timeout of the VirtualService, and the application",
  ],
};

/** Returns the flags of a list such as `UF,URX`. Throws a UsageError for an unknown flag. */
export function readFlags(text: string): readonly string[] {
  const names = text.split(",").map((each) => each.trim().toUpperCase()).filter((each) => each !== "" && each !== "-");
  for (const name of names) {
    if (Object.hasOwn(FLAGS, name)) continue;
    const near = closest(name, Object.keys(FLAGS));
    throw new UsageError(`Envoy has no response flag "${name}"`, {
      hint: near === undefined ? `the flags are ${Object.keys(FLAGS).join(", ")}` : `did you mean ${near}?`,
    });
  }
  return names;
}

/** Returns the response flags in a line of Istio's access log (text or JSON). Throws a UsageError for any other line. */
export function flagsOfLine(line: string): readonly string[] {
  if (line.trim() === "") {
    throw new UsageError("The line of the access log is empty", {
      hint: 'pass a line, such as from "kubectl logs POD -c istio-proxy | tail -n 1"',
    });
  }
  const found = flagsText(line);
  if (found === undefined) {
    throw new UsageError("The line is not from Istio's access log", {
      hint: "pass the line exactly as Envoy wrote it",
    });
  }
  return readFlags(found);
}

function flagsText(line: string): string | undefined {
  const [, json] = /"response_flags":\s*"([^"]*)"/.exec(line) ?? [];
  const [, text] = /"[^"]*" \d{1,3} (\S+) /.exec(line) ?? [];
  return json ?? text;
}

/** Returns the last line of a text that is from Istio's access log; without such a line, the last line that is not empty. */
export function lastLogLine(text: string): string {
  const lines = text.split("\n").filter((line) => line.trim() !== "");
  // The access logs of other programs have a number in this place.
  return lines.findLast((line) => /^(?:-|[A-Z,]+)$/.test(flagsText(line) ?? "")) ?? lines.at(-1) ?? "";
}

/** Returns the flags of `explain` for the connection of a line of the access log; `undefined` if it names none. */
export function connectionOfLine(line: string): string | undefined {
  const { cluster = "", local = "", remote = "" } = fieldsOf(line);
  const [, servicePort, service] = OUTBOUND.exec(cluster) ?? [];
  if (service !== undefined) return `--to ${service}:${servicePort}`;
  const [own, client] = [splitHostPort(local), splitHostPort(remote)];
  if (typeof own === "string" || typeof client === "string") return undefined;
  if (isInbound(cluster)) return `--from ${client.host} --to-port ${own.port}`;
  const isOutside = cluster === "PassthroughCluster" || cluster === "BlackHoleCluster";
  return isOutside ? `--to ${joinHostPort(own.host, own.port)}` : undefined;
}

const OUTBOUND = /^outbound\|(\d+)\|[^|]*\|([\w.-]+)$/;

function isInbound(cluster: string): boolean {
  return /^inbound\||^InboundPassthrough/.test(cluster);
}

/**
 * Returns the flags of `explain` for the connection of a line if its port or its Service clearly differs from `asked`;
 * otherwise `undefined`. A VirtualService can send a request to another Service and port, so the original destination
 * and the request's authority count too.
 */
export function otherConnection(line: string, { direction, host, port, headers }: Connection): string | undefined {
  const { cluster = "", local = "", authority = "" } = fieldsOf(line);
  // The line can be from the proxy at the other end of the same connection.
  if (isInbound(cluster) !== (direction === "inbound")) return undefined;
  const [, servicePort, service] = OUTBOUND.exec(cluster) ?? [];
  const [own, named] = [splitHostPort(local), splitHostPort(authority)];
  const ports = [servicePort, ...[own, named].map((end) => typeof end === "string" ? undefined : end.port)];
  const names = [service, typeof named === "string" ? authority : named.host];
  const wanted = [host, ...headers.filter(({ name }) => name === "host").map(({ value }) => value)];
  const isSame = ports.includes(String(port)) && (
    service === undefined || typeof parseAddress(host) !== "string" ||
    wanted.some((each) => names.some((name) => isLike(each, name ?? "")))
  );
  return isSame ? undefined : connectionOfLine(line);
}

/** Whether one name has the first label of the other, such as `db` and `db-0.db.shop`. */
function isLike(one: string, other: string): boolean {
  const [ones, others] = [one, other].map((name) => name.toLowerCase().split(/[.:]/));
  return ones?.includes(others?.[0] ?? "") === true || others?.includes(ones?.[0] ?? "") === true;
}

interface Fields {
  readonly cluster?: string | undefined;
  readonly authority?: string | undefined;
  /** Original destination. */
  readonly local?: string | undefined;
  readonly remote?: string | undefined;
}

function fieldsOf(line: string): Fields {
  return jsonFields(line) ?? END.exec(line)?.groups ?? {};
}

/** The end of a line: authority, host, cluster, addresses (upstream local, downstream local, downstream remote), SNI, route. */
const END = /(?:"(?<authority>[^"]*)" "[^"]*)?" (?<cluster>\S+) \S+ (?<local>\S+) (?<remote>\S+) \S+ \S+\s*$/;

function jsonFields(line: string): Fields | undefined {
  const log = parseJson(line);
  if (!isMap(log)) return undefined;
  return {
    cluster: textAt(log, "upstream_cluster"),
    authority: textAt(log, "authority"),
    local: textAt(log, "downstream_local_address"),
    remote: textAt(log, "downstream_remote_address"),
  };
}

/**
 * Explains flags for a connection. For each flag, lists the stations that can set it. If some of these stations have a
 * problem, lists only those.
 */
export function explainedFlags(names: readonly string[], { stations }: Answer): NonNullable<Answer["flags"]> {
  return names.flatMap((name) => {
    const flag = FLAGS[name];
    if (flag === undefined) return [];
    const [meaning, kinds, next] = flag;
    const able = stations.map((station, at) => ({ station, at })).filter(({ station }) => kinds.includes(station.kind));
    const wrong = able.filter(({ station: { result } }) => result !== "ok");
    const set = (wrong.length > 0 ? wrong : able).map(({ station, at }) => stationText(station, at));
    return [{ flag: name, meaning, stations: set, next }];
  });
}

function stationText({ kind, pod }: Station, at: number): string {
  return `${at + 1} ${kind}${pod === "" ? "" : ` of ${pod}`}`;
}
