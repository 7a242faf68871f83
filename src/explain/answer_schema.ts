/** The JSON of `explain -o json` for one connection. Import only types from this file: printing does not need zod. */
import { z } from "zod";

const SOURCE = z.enum(["seen", "planned", "proved", "unknown"]).describe(
  "seen: read from the kernel, Envoy or the API server; planned: computed from settings; proved: a probe " +
    "passed this station; unknown: no source is available",
);

const STATION = z.strictObject({
  kind: z.enum([
    "application",
    "dns",
    "kernel",
    "listener",
    "filter-chain",
    "route",
    "cluster",
    "endpoint",
    "tls",
    "authorization",
    "port",
    "pod",
    "ztunnel",
  ]),
  pod: z.string().describe("pod of the station, NAMESPACE/NAME; empty if unknown"),
  side: z.enum(["client", "server"]),
  name: z.string().describe("Envoy's name of the listener, filter chain, route or cluster; empty if unnamed"),
  source: SOURCE,
  result: z.enum(["ok", "warning", "error", "unknown"]),
  message: z.string().describe("what the station does with the connection, and why"),
  detail: z.record(z.string(), z.union([z.string(), z.number(), z.boolean(), z.array(z.string()).readonly()])).describe(
    "values by name; each kind of station has its own names",
  ),
});

const DECIDED = z.strictObject({
  kind: z.string().describe("kind of the resource, such as VirtualService or PeerAuthentication"),
  namespace: z.string().describe("namespace of the resource; empty if unknown"),
  name: z.string().describe("name of the resource; empty if unknown"),
  field: z.string().describe("field that decided, such as spec.mtls.mode; empty if unknown"),
});

export const ANSWER = z.strictObject({
  pod: z.string().describe("NAMESPACE/NAME; empty if unknown"),
  direction: z.enum(["outbound", "inbound"]),
  verdict: z.enum(["reaches", "refused", "bypasses", "unknown"]).describe(
    "reaches: the proxy forwards the connection to an endpoint; refused: a station rejects it; " +
      "bypasses: it does not go through the proxy; unknown: the snapshot does not decide",
  ),
  reason: z.string().describe("one sentence: why the verdict holds"),
  fix: z.string().describe("field to change, and how; empty if no fix is needed or known"),
  decided: DECIDED.optional().describe("resource that decided; absent if unknown"),
  stations: z.array(STATION).readonly().describe("stations, in the order in which the connection passes them"),
  clusters: z.array(z.strictObject({
    name: z.string(),
    weight: z.number().describe("share of the requests, in percent"),
  })).readonly(),
  endpoints: z.array(z.strictObject({
    address: z.string().describe("ADDRESS:PORT, or the path of a socket"),
    health: z.string().describe("healthy, degraded, unknown, or why the endpoint is unhealthy"),
  })).readonly().describe("endpoints that load balancing can choose"),
  probe: z.strictObject({
    request: z.string(),
    isSent: z.boolean(),
    result: z.string().describe("result of the request, such as its HTTP status"),
    unproved: z.array(z.string()).readonly().describe("stations that the request did not prove, and why"),
  }).optional().describe("result of --probe"),
  flags: z.array(z.strictObject({
    flag: z.string(),
    meaning: z.string(),
    stations: z.array(z.string()).readonly().describe("stations that can set the flag, by number and kind"),
    next: z.string().describe("what to check next"),
  })).readonly().optional().describe("meaning of the response flags given with --response-flags or --log"),
}).describe("The output of `kubectl mesh explain --to ... -o json`");

export type Answer = Readonly<z.infer<typeof ANSWER>>;
export type Decided = Readonly<z.infer<typeof DECIDED>>;

export type Station = Readonly<Answer["stations"][number]>;
/** A station before its pod and side are set. */
export type PlainStation = Omit<Station, "pod" | "side">;
export type StationKind = Station["kind"];
export type Source = Station["source"];
export type StationResult = Station["result"];
export type Detail = Station["detail"];
