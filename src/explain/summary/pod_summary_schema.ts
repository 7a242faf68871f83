/** The JSON of `explain -o json` for a pod without a connection. Import only types: printing does not need zod. */
import { z } from "zod";

const RESULT = z.enum(["ok", "warning", "error", "unknown"]);
const SOURCE = z.enum(["seen", "planned", "unknown"]).describe(
  "seen: read from the kernel, Envoy or the API server; planned: computed from settings; unknown: no source is available",
);
const TIME = z.string().describe("time in RFC 3339; empty if unknown");
const SECONDS = z.number().nullable().describe("duration in seconds; null if unknown");

const CONTAINER = z.strictObject({
  name: z.string(),
  kind: z.enum(["init", "sidecar", "container", "ephemeral"]).describe(
    "init: exits before the next container starts; sidecar: an init container that keeps running",
  ),
  role: z.enum(["proxy", "capture", "application"]).describe(
    "capture: the container sets or checks the kernel's redirect rules",
  ),
  image: z.string(),
  state: z.enum(["running", "waiting", "ended", "unknown"]),
  ready: z.boolean().nullable().describe("readiness of a running container, from the kubelet; null if unknown"),
  since: TIME,
  restarts: z.number(),
  lastEnd: z.string().describe("description of the last exit; empty if it never exited"),
  result: RESULT,
  message: z.string(),
});

const PORT = z.strictObject({
  port: z.number(),
  protocol: z.string(),
  name: z.string(),
  container: z.string(),
  path: z.enum(["captured", "bypasses", "proxy", "unknown"]).describe(
    "captured: connections to the port go through the proxy; bypasses: they do not; proxy: a port of the proxy itself",
  ),
  source: SOURCE,
  listens: z.enum(["yes", "loopback", "no", "unknown"]),
  address: z.string().describe("address on which the process listens; empty if unknown"),
  result: RESULT,
  message: z.string(),
});

const LANE = z.strictObject({
  direction: z.enum(["inbound", "outbound"]),
  path: z.enum(["captured", "bypasses"]),
  what: z.string().describe("connections that use this lane"),
  message: z.string().describe("why the kernel redirects or ignores these connections"),
});

const CERTIFICATE = z.strictObject({
  identity: z.string().describe("SPIFFE URI; empty without an identity"),
  issuer: z.string().describe("issuer of the certificate"),
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
  warming: z.number().describe("resources that wait for other resources"),
  rejections: z.number().nullable().describe("updates that Envoy rejected since its start"),
});

const CONFIGURATION = z.strictObject({
  controlPlane: z.string().describe("address to which the agent connects; empty if unknown"),
  revision: z.string(),
  connected: z.boolean().nullable(),
  istio: z.string().describe("Istio version that the agent reports to istiod"),
  isOwnAgent: z.boolean().describe("whether the agent is kubectl-mesh"),
  envoy: z.string(),
  state: z.string().describe("Envoy's state: LIVE, DRAINING, PRE_INITIALIZING, INITIALIZING"),
  uptime: SECONDS,
  types: z.array(RESOURCE_TYPE).readonly(),
  rejected: z.array(z.strictObject({ name: z.string(), time: TIME, message: z.string() })).readonly().describe(
    "resources whose last update Envoy rejected (NACK)",
  ),
  synchronised: z.boolean().nullable(),
  result: RESULT,
  message: z.string(),
});

const AMBIENT = z.strictObject({
  workload: z.string().describe("ztunnel's UID of the pod; empty if unknown"),
  tunnel: z.boolean().nullable().describe("whether ztunnel accepts HBONE tunnels for the pod; null if unknown"),
  waypoint: z.string().describe("address or host of the pod's waypoint; empty without a waypoint"),
  network: z.string(),
  services: z.array(z.string()).readonly().describe(
    "hosts of the services that have the pod as an endpoint, each with its waypoint",
  ),
  policies: z.array(z.string()).readonly().describe(
    "policies that apply to the pod: ALLOW or DENY, and NAMESPACE/NAME",
  ),
  result: RESULT,
  message: z.string(),
});

export const POD_SUMMARY = z.strictObject({
  pod: z.string().describe("NAMESPACE/NAME; empty if unknown"),
  time: TIME,
  node: z.string(),
  addresses: z.array(z.string()).readonly(),
  phase: z.string(),
  containers: z.array(CONTAINER).readonly().describe("containers in start order"),
  traffic: z.strictObject({
    source: SOURCE,
    mode: z.string().describe("REDIRECT or TPROXY; ztunnel in ambient mode; empty if unknown"),
    message: z.string(),
    ports: z.array(PORT).readonly(),
    lanes: z.array(LANE).readonly(),
  }),
  certificate: CERTIFICATE,
  configuration: CONFIGURATION,
  ambient: AMBIENT.nullable().describe(
    "state of the pod in the ztunnel of its node; null if the pod is not in ambient mode",
  ),
  readiness: z.strictObject({ ready: z.boolean().nullable(), result: RESULT, message: z.string() }),
  compared: z.boolean().describe(
    "whether the pod has a record of the injected values; if false, differences are unknown",
  ),
  differences: z.array(z.strictObject({ field: z.string(), wrote: z.string(), runs: z.string() })).readonly().describe(
    "differences between the injected values and the pod",
  ),
  findings: z.array(z.strictObject({
    id: z.string(),
    result: RESULT,
    message: z.string(),
    fix: z.string(),
  })).readonly().describe("problems, worst first"),
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
