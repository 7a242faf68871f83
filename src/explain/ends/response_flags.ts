/** Envoy's response flags: the meaning, the stations that can set the flag, and what to check next. */
import { UsageError } from "../../base/errors.ts";
import { closest } from "../../base/text/mod.ts";
import type { Answer, Station, StationKind } from "../answer_schema.ts";

interface Flag {
  readonly meaning: string;
  readonly kinds: readonly StationKind[];
  readonly next: string;
}

/** The response flags in Envoy's documentation of access logs, `%RESPONSE_FLAGS%` (source/common/stream_info/utility.h). */
const FLAGS: Readonly<Record<string, Flag>> = {
  DC: { meaning: "the client closed the connection", kinds: ["application"], next: "the client's timeout and its log" },
  DI: {
    meaning: "an injected fault delayed the request",
    kinds: ["route"],
    next: "spec.http.fault of the VirtualService",
  },
  DF: {
    meaning: "the name of the endpoint could not be resolved",
    kinds: ["cluster", "endpoint"],
    next: "the DNS records of the ServiceEntry's host",
  },
  DO: {
    meaning: "the cluster drops a share of the requests",
    kinds: ["cluster"],
    next: "drop_overloads of the cluster's endpoints, which an EnvoyFilter or the control plane sets",
  },
  DPE: {
    meaning: "the client sent data that is not valid for the HTTP version of this port",
    kinds: ["filter-chain"],
    next: "the name or appProtocol of the Service's port",
  },
  DR: {
    meaning: "the client reset the stream",
    kinds: ["application"],
    next: "the client's timeout and its log",
  },
  DT: {
    meaning: "the request or the connection exceeded its time limit",
    kinds: ["route", "cluster"],
    next: "the timeout of the VirtualService and the idle timeouts of the DestinationRule",
  },
  FI: {
    meaning: "an injected fault aborted the request",
    kinds: ["route"],
    next: "spec.http.fault of the VirtualService",
  },
  IH: { meaning: "a request header has an invalid value", kinds: ["route"], next: "the request's headers" },
  LH: {
    meaning: "the endpoint's health check failed",
    kinds: ["endpoint"],
    next: "the readiness of the endpoint's pod",
  },
  LR: {
    meaning: "Envoy itself reset the connection",
    kinds: ["cluster", "endpoint"],
    next: "Envoy's log, and whether Envoy is draining",
  },
  NC: {
    meaning: "Envoy does not have the route's cluster",
    kinds: ["cluster"],
    next: "the subsets of the DestinationRule, and whether the host is visible to this pod (exportTo, Sidecar)",
  },
  NFCF: {
    meaning: "Envoy did not receive the configuration of a filter in time",
    kinds: ["listener", "filter-chain"],
    next: "the EnvoyFilter or WasmPlugin of the filter (ECDS), and Envoy's log",
  },
  NR: {
    meaning: "no route or filter chain matches the request",
    kinds: ["route", "filter-chain"],
    next: "the hosts and matches of the VirtualService, and the mTLS mode of the port",
  },
  OM: { meaning: "Envoy rejects requests because of overload", kinds: ["listener"], next: "the memory of the proxy" },
  RFCF: {
    meaning: "Envoy's cache filter returned a stored response",
    kinds: ["route"],
    next: "the cache filter, which an EnvoyFilter adds",
  },
  RL: {
    meaning: "the request exceeded a rate limit",
    kinds: ["route", "authorization"],
    next: "the rate limit filters, which an EnvoyFilter adds",
  },
  RLSE: { meaning: "the rate limit service failed", kinds: ["route"], next: "the rate limit service" },
  SI: { meaning: "the stream was idle for too long", kinds: ["route"], next: "timeouts of the route" },
  UAEX: {
    meaning: "the external authorization denied the request",
    kinds: ["authorization"],
    next: "the provider of the CUSTOM AuthorizationPolicy",
  },
  UC: {
    meaning: "the endpoint closed the connection",
    kinds: ["tls", "endpoint", "port"],
    next: "the log of the server's proxy and application: keep-alive timeouts, a crash, mutual TLS",
  },
  UDO: {
    meaning: "the cluster drops every request",
    kinds: ["cluster"],
    next: "drop_overloads of the cluster's endpoints, which an EnvoyFilter or the control plane sets",
  },
  UF: {
    meaning: "Envoy could not connect to the endpoint",
    kinds: ["tls", "endpoint", "port"],
    next: "the application's port, NetworkPolicies, and the TLS settings of both sides",
  },
  UH: {
    meaning: "no healthy endpoint",
    kinds: ["endpoint"],
    next: "the readiness of the pods, outlier detection, and the labels of the subset",
  },
  UMSDR: { meaning: "the request exceeded its maximum duration", kinds: ["route"], next: "maxStreamDuration" },
  UO: {
    meaning: "a circuit breaker is open",
    kinds: ["cluster"],
    next: "spec.trafficPolicy.connectionPool of the DestinationRule",
  },
  UPE: {
    meaning: "the endpoint's response does not use the expected protocol",
    kinds: ["cluster", "port"],
    next: "the name or appProtocol of the Service's port",
  },
  UR: {
    meaning: "the endpoint reset the stream",
    kinds: ["endpoint", "port"],
    next: "the log of the server's proxy and application",
  },
  URX: {
    meaning: "all retries or connection attempts failed",
    kinds: ["route", "endpoint"],
    next: "the other flags of the request, and the retries of the VirtualService",
  },
  UT: {
    meaning: "the endpoint did not answer in time",
    kinds: ["route", "endpoint"],
    next: "spec.http.timeout of the VirtualService, and the application",
  },
};

/** Returns the flags of a list such as `UF,URX`. Throws a UsageError for an unknown flag. */
export function readFlags(text: string): readonly string[] {
  const names = text.split(",").map((each) => each.trim().toUpperCase()).filter((each) => each !== "" && each !== "-");
  for (const name of names) {
    if (Object.hasOwn(FLAGS, name)) continue;
    const near = closest(name, Object.keys(FLAGS));
    throw new UsageError(
      `Envoy has no response flag "${name}"`,
      near === undefined ? {} : { hint: `did you mean ${near}?` },
    );
  }
  return names;
}

/** Returns the response flags in a line of Istio's access log (text or JSON). Throws a UsageError for any other line. */
export function flagsOfLine(line: string): readonly string[] {
  const [, json] = /"response_flags":\s*"([^"]*)"/.exec(line) ?? [];
  const [, text] = /"[^"]*" \d{1,3} (\S+) /.exec(line) ?? [];
  const found = json ?? text;
  if (found === undefined) {
    throw new UsageError("The line is not from Istio's access log", {
      hint: "pass the line exactly as Envoy wrote it",
    });
  }
  return readFlags(found);
}

/**
 * Explains flags for a connection. For each flag, lists the stations that can set it. If some of these stations have a
 * problem, lists only those.
 */
export function explainedFlags(names: readonly string[], { stations }: Answer): NonNullable<Answer["flags"]> {
  return names.flatMap((name) => {
    const flag = FLAGS[name];
    if (flag === undefined) return [];
    const { meaning, kinds, next } = flag;
    const able = stations.map((station, at) => ({ station, at })).filter(({ station }) => kinds.includes(station.kind));
    const wrong = able.filter(({ station: { result } }) => result !== "ok");
    const set = (wrong.length > 0 ? wrong : able).map(({ station, at }) => stationText(station, at));
    return [{ flag: name, meaning, stations: set, next }];
  });
}

function stationText({ kind, pod }: Station, at: number): string {
  return `${at + 1} ${kind}${pod === "" ? "" : ` of ${pod}`}`;
}
