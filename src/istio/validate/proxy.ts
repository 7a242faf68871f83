import { hostPortProblem } from "../../golang/net/mod.ts";
import { isMap, type Value, valueAt, type ValueMap } from "../../base/value.ts";
import type { FieldProblem } from "../decode/decode.ts";
import { nanosecondsOf } from "../decode/duration_text.ts";

const SECOND = 1_000_000_000n;

/** A rule for one field of a proxy configuration; `problem` is `undefined` for a valid value. */
interface Check {
  readonly path: readonly string[];
  /** Whether the value may be unset. */
  readonly optional: boolean;
  readonly problem: (value: Value) => string | undefined;
}

const REQUIRED: readonly Check[] = [
  { path: ["configPath"], optional: false, problem: filled },
  { path: ["binaryPath"], optional: false, problem: filled },
  { path: ["drainDuration"], optional: false, problem: drainProblem },
  { path: ["discoveryAddress"], optional: false, problem: addressProblem },
  { path: ["proxyAdminPort"], optional: false, problem: portProblem },
  { path: ["statusPort"], optional: false, problem: portProblem },
];

const ADDRESSES = [
  ["statsdUdpAddress"],
  ["envoyMetricsServiceAddress"],
  ["envoyMetricsService", "address"],
  ["envoyAccessLogService", "address"],
];

const OPTIONAL: readonly Check[] = [
  ...ADDRESSES.map((path) => ({
    path,
    optional: true,
    problem: (value: Value) => value === "" ? undefined : addressProblem(value),
  })),
  { path: ["controlPlaneAuthPolicy"], optional: true, problem: policyProblem },
  { path: ["privateKeyProvider", "cryptomb"], optional: true, problem: pollDelayProblem },
  { path: ["privateKeyProvider", "qat"], optional: true, problem: pollDelayProblem },
];

/** The minimum of each number in the connection settings. */
const LEAST: readonly (readonly [string, number])[] = [
  ["listenerPerConnectionBufferLimitBytes", 0],
  ["clusterPerConnectionBufferLimitBytes", 0],
  ["httpMaxConcurrentStreams", 1],
  ["http2InitialStreamWindowSize", 65535],
  ["http2InitialConnectionWindowSize", 65535],
  ["listenerConnectionLimit", 1],
  ["globalDownstreamConnectionLimit", 1],
];

const NOT_NEGATIVE = [
  "httpIdleTimeout",
  "httpMaxConnectionDuration",
  "httpDrainTimeout",
  "httpRequestTimeout",
  "httpRequestHeadersTimeout",
  "httpStreamIdleTimeout",
  "httpMaxStreamDuration",
];

const CONNECTIONS: readonly Check[] = [
  ...LEAST.map(([name, least]) => ({
    path: ["connectionSettings", name],
    optional: true,
    problem: (value: Value) => Number(value) < least ? `must be at least ${least}, not ${value}` : undefined,
  })),
  ...NOT_NEGATIVE.map((name) => ({
    path: ["connectionSettings", name],
    optional: true,
    problem: (value: Value) =>
      nanosecondsOf(String(value)) < 0n ? `must not be negative, but is "${value}"` : undefined,
  })),
];

const CHECKS = [...REQUIRED, ...OPTIONAL, ...CONNECTIONS];

/**
 * The invalid values of a decoded and merged proxy configuration.
 * Source: Istio's ValidateMeshConfigProxyConfig.
 */
export function checkProxyConfig(data: ValueMap): FieldProblem[] {
  return [
    ...CHECKS.flatMap((check) => runCheck(data, check)),
    ...nameProblems(data),
    ...tracingProblems(data),
    ...providerProblems(data),
  ];
}

function runCheck(data: ValueMap, check: Check): FieldProblem[] {
  const value = valueAt(data, ...check.path);
  if (value === undefined && check.optional) return [];
  const text = check.problem(value ?? null);
  return text === undefined ? [] : [{ field: check.path.join("."), text }];
}

function filled(value: Value): string | undefined {
  return value === null || value === "" ? "must be set" : undefined;
}

function addressProblem(value: Value): string | undefined {
  const text = String(value ?? "");
  if (text === "") return "must be set";
  const problem = hostPortProblem(text);
  return problem === undefined ? undefined : `must be host:port, but ${problem}`;
}

function portProblem(value: Value): string | undefined {
  const port = Number(value ?? 0);
  return port >= 1 && port <= 65535 ? undefined : `must be a port from 1 to 65535, not ${port}`;
}

/** The problem of a drain duration. Istio requires at least 1ms and whole seconds, so the minimum is one second. */
function drainProblem(value: Value): string | undefined {
  const text = String(value ?? "0s");
  const duration = nanosecondsOf(text);
  const isWhole = duration >= SECOND && duration % SECOND === 0n;
  return isWhole ? undefined : `must be a whole number of seconds, at least "1s", not "${text}"`;
}

function policyProblem(value: Value): string | undefined {
  return value === "NONE" || value === "MUTUAL_TLS" ? undefined : `must be NONE or MUTUAL_TLS, not ${value}`;
}

function pollDelayProblem(value: Value): string | undefined {
  const delay = isMap(value) ? value["pollDelay"] : undefined;
  if (typeof delay !== "string") return "must set pollDelay";
  return nanosecondsOf(delay) === 0n ? "must set a pollDelay other than zero" : undefined;
}

function nameProblems(data: ValueMap): FieldProblem[] {
  const isNamed = data["tracingServiceName"] !== undefined || (data["serviceCluster"] ?? "") !== "";
  return isNamed ? [] : [{ field: "serviceCluster", text: "must be set, unless tracingServiceName is" }];
}

function providerProblems(data: ValueMap): FieldProblem[] {
  const provider = data["privateKeyProvider"];
  if (!isMap(provider) || provider["cryptomb"] !== undefined || provider["qat"] !== undefined) return [];
  return [{ field: "privateKeyProvider", text: "must set cryptomb or qat" }];
}

/** Checks the addresses of span collectors. `$(HOST_IP)` counts as an IP address. */
function tracingProblems(data: ValueMap): FieldProblem[] {
  const tracing = data["tracing"];
  if (!isMap(tracing)) return [];
  const problems = ["zipkin", "lightstep", "datadog"].flatMap((name) => collectorProblems(tracing, name));
  const token = valueAt(tracing, "lightstep", "accessToken") ?? "";
  if (tracing["lightstep"] !== undefined && token === "") {
    problems.push({ field: "tracing.lightstep.accessToken", text: "must be set" });
  }
  const tls = tracing["tlsSettings"];
  return isMap(tls) ? [...problems, ...tlsProblems(tls, "tracing.tlsSettings")] : problems;
}

function collectorProblems(tracing: ValueMap, name: string): FieldProblem[] {
  if (tracing[name] === undefined) return [];
  const address = String(valueAt(tracing, name, "address") ?? "");
  const text = addressProblem(name === "lightstep" ? address : address.replace("$(HOST_IP)", "127.0.0.1"));
  return text === undefined ? [] : [{ field: `tracing.${name}.address`, text }];
}

const CONFIG_MAP_SCHEME = "configmap://";

/** Checks client TLS settings. Source: Istio's ValidateTLS. */
function tlsProblems(tls: ValueMap, path: string): FieldProblem[] {
  const problems = skipVerifyProblems(tls, path);
  const credential = String(tls["credentialName"] ?? "");
  if (credential.startsWith(CONFIG_MAP_SCHEME)) {
    problems.push({ field: `${path}.credentialName`, text: "must not refer to a ConfigMap here" });
  }
  const mode = tls["mode"] ?? "DISABLE";
  if ((mode === "SIMPLE" || mode === "MUTUAL") && credential !== "") {
    const files = ["clientCertificate", "caCertificates", "privateKey", "caCrl"].filter((name) => isFilled(tls[name]));
    return [
      ...problems,
      ...files.map((name) => ({ field: `${path}.${name}`, text: "must not be set together with credentialName" })),
    ];
  }
  const needed = mode === "MUTUAL" ? ["clientCertificate", "privateKey"] : [];
  const missing = needed.filter((name) => !isFilled(tls[name]));
  return [
    ...problems,
    ...missing.map((name) => ({ field: `${path}.${name}`, text: "must be set for the mode MUTUAL" })),
  ];
}

function skipVerifyProblems(tls: ValueMap, path: string): FieldProblem[] {
  const forbidden = tls["mode"] === "SIMPLE"
    ? ["caCertificates", "credentialName", "subjectAltNames"]
    : tls["mode"] === "MUTUAL"
    ? ["caCertificates", "subjectAltNames"]
    : [];
  if (tls["insecureSkipVerify"] !== true) return [];
  return forbidden.filter((name) => isFilled(tls[name]))
    .map((name) => ({ field: `${path}.${name}`, text: "must not be set together with insecureSkipVerify" }));
}

function isFilled(value: Value | undefined): boolean {
  return value !== undefined && value !== "";
}
