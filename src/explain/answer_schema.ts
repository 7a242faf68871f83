/** The JSON of `explain -o json` for one connection. Import it for types only: printing needs no zod. */
import { z } from "zod";

const SOURCE = z.enum(["seen", "planned", "proved", "unknown"]).describe(
  "seen: read from the kernel, from Envoy or the API server; planned: computed from settings; proved: a connection " +
    "passed it; unknown: neither",
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
  pod: z.string().describe("the pod that it is in, NAMESPACE/NAME; empty if unknown"),
  side: z.enum(["client", "server"]),
  name: z.string().describe("Envoy's own name of the listener, filter chain, route or cluster; empty if it has none"),
  source: SOURCE,
  result: z.enum(["ok", "warning", "error", "unknown"]),
  message: z.string().describe("what decided"),
  detail: z.record(z.string(), z.union([z.string(), z.number(), z.boolean(), z.array(z.string()).readonly()])).describe(
    "values by name; which ones depends on the kind",
  ),
});

const DECIDED = z.strictObject({
  kind: z.string().describe("VirtualService, PeerAuthentication, ..."),
  namespace: z.string().describe("empty if it is not known"),
  name: z.string().describe("empty if it is not known"),
  field: z.string().describe("such as spec.mtls.mode; empty if it is not known"),
});

/** The path of one connection. */
export const ANSWER = z.strictObject({
  pod: z.string().describe("NAMESPACE/NAME; empty if unknown"),
  direction: z.enum(["outbound", "inbound"]),
  verdict: z.enum(["reaches", "refused", "bypasses", "unknown"]).describe(
    "reaches: the proxy takes it to an endpoint; bypasses: it does not pass the proxy",
  ),
  reason: z.string().describe("one sentence: the station that decided"),
  fix: z.string().describe("the field and its change; empty if nothing is wrong"),
  decided: DECIDED.optional().describe("the resource that decided; absent if none did"),
  stations: z.array(STATION).readonly().describe("in the order of the connection"),
  clusters: z.array(z.strictObject({
    name: z.string(),
    weight: z.number().describe("percent of the requests"),
  })).readonly(),
  endpoints: z.array(z.strictObject({
    address: z.string().describe("ADDRESS:PORT, or the path of a socket"),
    health: z.string().describe("healthy, degraded, unknown, or why it is not healthy"),
  })).readonly().describe("the endpoints that may be chosen"),
  probe: z.strictObject({
    request: z.string(),
    isSent: z.boolean(),
    result: z.string().describe("the outcome"),
    unproved: z.array(z.string()).readonly().describe("stations that are not proved, and why"),
  }).optional().describe("with --probe"),
  flags: z.array(z.strictObject({
    flag: z.string(),
    meaning: z.string(),
    stations: z.array(z.string()).readonly().describe("which can have set it, by number and kind"),
    next: z.string().describe("what to look at next"),
  })).readonly().optional().describe("with --response-flags or --log"),
}).describe("The output of `kubectl mesh explain --to ... -o json`");

export type Answer = Readonly<z.infer<typeof ANSWER>>;
export type Decided = Readonly<z.infer<typeof DECIDED>>;

export type Station = Readonly<Answer["stations"][number]>;
/** A station without its pod and side. */
export type PlainStation = Omit<Station, "pod" | "side">;
export type StationKind = Station["kind"];
export type Source = Station["source"];
export type StationResult = Station["result"];
export type Detail = Station["detail"];
