/** Envoy's response flags: the meaning, the stations that can set it, and what to check next. */
import { UsageError } from "../../base/errors.ts";
import { closest } from "../../base/text/mod.ts";
import type { Answer, Station, StationKind } from "../answer_schema.ts";

interface Flag {
  readonly meaning: string;
  readonly kinds: readonly StationKind[];
  readonly next: string;
}

/** Envoy, "Access logging", `%RESPONSE_FLAGS%` (source/common/stream_info/utility.h). */
const FLAGS: Readonly<Record<string, Flag>> = {
  DC: { meaning: "the client closed the connection", kinds: ["application"], next: "the client's timeout and its log" },
  DI: { meaning: "a fault delayed the request", kinds: ["route"], next: "spec.http.fault of the VirtualService" },
  DF: {
    meaning: "the name of the endpoint could not be resolved",
    kinds: ["cluster", "endpoint"],
    next: "DNS of the host of the ServiceEntry",
  },
  DO: {
    meaning: "the cluster drops a share of the requests",
    kinds: ["cluster"],
    next: "drop_overloads of the cluster's endpoints, which an EnvoyFilter or the control plane sets",
  },
  DPE: {
    meaning: "the client does not speak HTTP as this port reads it",
    kinds: ["filter-chain"],
    next: "the name or appProtocol of the Service's port",
  },
  DR: {
    meaning: "the client reset the stream",
    kinds: ["application"],
    next: "the client's timeout and its log",
  },
  DT: {
    meaning: "the request or the connection lasted longer than its limit",
    kinds: ["route", "cluster"],
    next: "timeouts of the VirtualService and idle timeouts of the DestinationRule",
  },
  FI: {
    meaning: "a fault answered in place of the endpoint",
    kinds: ["route"],
    next: "spec.http.fault of the VirtualService",
  },
  IH: { meaning: "a header that is checked has a wrong value", kinds: ["route"], next: "the request's headers" },
  LH: { meaning: "the endpoint's health check failed", kinds: ["endpoint"], next: "readiness of the endpoint's pod" },
  LR: {
    meaning: "Envoy itself reset the connection",
    kinds: ["cluster", "endpoint"],
    next: "Envoy's log, and whether it drains",
  },
  NC: {
    meaning: "Envoy has no such cluster",
    kinds: ["cluster"],
    next: "subsets of the DestinationRule, and whether the host exists for this pod (exportTo, Sidecar)",
  },
  NFCF: {
    meaning: "Envoy has not received the configuration of a filter in time",
    kinds: ["listener", "filter-chain"],
    next: "whether the control plane sends it (ECDS): an EnvoyFilter or a WasmPlugin, and Envoy's log",
  },
  NR: {
    meaning: "no route or no filter chain takes the request",
    kinds: ["route", "filter-chain"],
    next: "hosts and matches of the VirtualService, and the mTLS mode of the port",
  },
  OM: { meaning: "Envoy sheds load", kinds: ["listener"], next: "the memory of the proxy" },
  RFCF: {
    meaning: "Envoy's cache filter answered in place of the endpoint",
    kinds: ["route"],
    next: "the cache filter, which an EnvoyFilter makes",
  },
  RL: {
    meaning: "a rate limit answered",
    kinds: ["route", "authorization"],
    next: "the rate limit filters, which an EnvoyFilter makes",
  },
  RLSE: { meaning: "the rate limit service failed", kinds: ["route"], next: "the rate limit service" },
  SI: { meaning: "the stream was idle for too long", kinds: ["route"], next: "timeouts of the route" },
  UAEX: {
    meaning: "the external authorization refused",
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
    meaning: "no connection to the endpoint",
    kinds: ["tls", "endpoint", "port"],
    next: "whether the application listens there, NetworkPolicies, and the TLS of both sides",
  },
  UH: {
    meaning: "no healthy endpoint",
    kinds: ["endpoint"],
    next: "readiness of the pods, outlier detection, the labels of the subset",
  },
  UMSDR: { meaning: "the request lasted longer than its maximum", kinds: ["route"], next: "maxStreamDuration" },
  UO: {
    meaning: "a circuit breaker is open",
    kinds: ["cluster"],
    next: "spec.trafficPolicy.connectionPool of the DestinationRule",
  },
  UPE: {
    meaning: "the endpoint does not answer in the protocol that is expected",
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
    next: "the flag beside it, and retries of the VirtualService",
  },
  UT: {
    meaning: "the endpoint did not answer in time",
    kinds: ["route", "endpoint"],
    next: "spec.http.timeout of the VirtualService, and the application",
  },
};

/** The flags of a list such as `UF,URX`. Errors: a UsageError for one that Envoy does not have. */
export function readFlags(text: string): readonly string[] {
  const names = text.split(",").map((each) => each.trim().toUpperCase()).filter((each) => each !== "" && each !== "-");
  for (const name of names) {
    if (Object.hasOwn(FLAGS, name)) continue;
    const near = closest(name, Object.keys(FLAGS));
    throw new UsageError(
      `Envoy has no response flag "${name}"`,
      near === undefined ? {} : { hint: `there is ${near}` },
    );
  }
  return names;
}

/** The response flags in a line of Istio's access log (text or JSON). Errors: a UsageError for any other line. */
export function flagsOfLine(line: string): readonly string[] {
  const [, json] = /"response_flags":\s*"([^"]*)"/.exec(line) ?? [];
  const [, text] = /"[^"]*" \d{1,3} (\S+) /.exec(line) ?? [];
  const found = json ?? text;
  if (found === undefined) {
    throw new UsageError("The line is none of Istio's access log", { hint: "give it as Envoy wrote it" });
  }
  return readFlags(found);
}

/** What flags mean in this connection. Names the stations with a problem that can set the flag, else all that can. */
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
