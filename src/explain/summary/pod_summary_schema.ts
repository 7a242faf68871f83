/** The JSON of `explain -o json` for a pod without a connection. Import it for types only: printing needs no zod. */
import { z } from "zod";

const RESULT = z.enum(["ok", "warning", "error", "unknown"]);
const SOURCE = z.enum(["seen", "planned", "unknown"]).describe(
  "seen: read from the kernel, from Envoy or the API server; planned: computed from settings; unknown: neither",
);
const TIME = z.string().describe("RFC 3339; empty if unknown");
const SECONDS = z.number().nullable().describe("seconds; null if unknown");

const CONTAINER = z.strictObject({
  name: z.string(),
  kind: z.enum(["init", "sidecar", "container", "ephemeral"]).describe(
    "init: ends before the next one starts; sidecar: an init container that keeps running",
  ),
  role: z.enum(["proxy", "capture", "application"]).describe("capture: it makes or checks the rules of the kernel"),
  image: z.string(),
  state: z.enum(["running", "waiting", "ended", "unknown"]),
  ready: z.boolean().nullable().describe("readiness of a running container by the kubelet; null if unknown"),
  since: TIME,
  restarts: z.number(),
  lastEnd: z.string().describe("how it ended the last time; empty if it never ended"),
  result: RESULT,
  message: z.string(),
});

const PORT = z.strictObject({
  port: z.number(),
  protocol: z.string(),
  name: z.string(),
  container: z.string(),
  path: z.enum(["captured", "bypasses", "proxy", "unknown"]).describe(
    "captured: connections to it pass the proxy; proxy: a port of the proxy itself",
  ),
  source: SOURCE,
  listens: z.enum(["yes", "loopback", "no", "unknown"]),
  address: z.string().describe("where it listens; empty if unknown"),
  result: RESULT,
  message: z.string(),
});

const LANE = z.strictObject({
  direction: z.enum(["inbound", "outbound"]),
  path: z.enum(["captured", "bypasses"]),
  what: z.string().describe("the connections that take it"),
  message: z.string().describe("why"),
});

const CERTIFICATE = z.strictObject({
  identity: z.string().describe("the SPIFFE URI; empty if there is none"),
  issuer: z.string().describe("who signed it"),
  notBefore: TIME,
  notAfter: TIME,
  lasts: SECONDS,
  roots: z.array(z.strictObject({ subject: z.string(), notAfter: TIME })).readonly(),
  result: RESULT,
  message: z.string(),
});

const RESOURCE_TYPE = z.strictObject({
  type: z.enum(["listeners", "routes", "clusters", "endpoints", "secrets"]),
  version: z.string(),
  updated: TIME,
  age: SECONDS,
  resources: z.number().nullable(),
  warming: z.number().describe("resources that wait for others"),
  rejections: z.number().nullable().describe("updates that Envoy refused since its start"),
});

const CONFIGURATION = z.strictObject({
  controlPlane: z.string().describe("the address that the agent connects to; empty if unknown"),
  revision: z.string(),
  connected: z.boolean().nullable(),
  istio: z.string().describe("the release of Istio that the agent reports to istiod"),
  isOwnAgent: z.boolean().describe("the agent is kubectl-mesh"),
  envoy: z.string(),
  state: z.string().describe("Envoy's state: LIVE, DRAINING, PRE_INITIALIZING, INITIALIZING"),
  uptime: SECONDS,
  types: z.array(RESOURCE_TYPE).readonly(),
  rejected: z.array(z.strictObject({ name: z.string(), time: TIME, message: z.string() })).readonly().describe(
    "resources whose last update Envoy refused (NACK)",
  ),
  synchronised: z.boolean().nullable(),
  result: RESULT,
  message: z.string(),
});

const AMBIENT = z.strictObject({
  workload: z.string().describe("the UID that ztunnel has for the pod; empty if unknown"),
  tunnel: z.boolean().nullable().describe("ztunnel takes tunnels (HBONE) for it; null if unknown"),
  waypoint: z.string().describe("address or host; empty without one"),
  network: z.string(),
  services: z.array(z.string()).readonly().describe("hosts whose endpoint it is, each with its waypoint"),
  policies: z.array(z.string()).readonly().describe("ALLOW or DENY, NAMESPACE/NAME"),
  result: RESULT,
  message: z.string(),
});

/** The summary of a pod. */
export const POD_SUMMARY = z.strictObject({
  pod: z.string().describe("NAMESPACE/NAME; empty if unknown"),
  time: TIME,
  node: z.string(),
  addresses: z.array(z.string()).readonly(),
  phase: z.string(),
  containers: z.array(CONTAINER).readonly().describe("in the order of their start"),
  traffic: z.strictObject({
    source: SOURCE,
    mode: z.string().describe("REDIRECT, TPROXY, or ztunnel in ambient mode; empty if unknown"),
    message: z.string(),
    ports: z.array(PORT).readonly(),
    lanes: z.array(LANE).readonly(),
  }),
  certificate: CERTIFICATE,
  configuration: CONFIGURATION,
  ambient: AMBIENT.nullable().describe(
    "what the ztunnel of its node knows of it; null if the pod is not in ambient mode",
  ),
  readiness: z.strictObject({ ready: z.boolean().nullable(), result: RESULT, message: z.string() }),
  compared: z.boolean().describe("the pod records what injection wrote; if false, differences are not known"),
  differences: z.array(z.strictObject({ field: z.string(), wrote: z.string(), runs: z.string() })).readonly().describe(
    "between what injection wrote and what runs",
  ),
  findings: z.array(z.strictObject({
    id: z.string(),
    result: RESULT,
    message: z.string(),
    fix: z.string(),
  })).readonly().describe("what is wrong, the worst first"),
}).describe("The output of `kubectl mesh explain POD -o json`");

export type PodSummary = Readonly<z.infer<typeof POD_SUMMARY>>;
export type SummaryContainer = PodSummary["containers"][number];
export type SummaryPort = PodSummary["traffic"]["ports"][number];
export type Lane = PodSummary["traffic"]["lanes"][number];
export type Traffic = PodSummary["traffic"];
export type Certificate = PodSummary["certificate"];
export type Configuration = PodSummary["configuration"];
export type ResourceType = Configuration["types"][number];
export type Ambient = Readonly<z.infer<typeof AMBIENT>>;
export type Readiness = PodSummary["readiness"];
export type Difference = PodSummary["differences"][number];
export type Finding = PodSummary["findings"][number];
export type Result = Finding["result"];
