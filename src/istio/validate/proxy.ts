import { hostPortProblem } from "../../golang/net/mod.ts";
import { isMap, mapAt, textAt, type Value, valueAt, type ValueMap } from "../../base/value.ts";
import type { FieldProblem } from "../decode/decode.ts";
import { nanosecondsOf } from "../decode/duration_text.ts";
import { brokenRules, type Rule } from "./rule.ts";

const SECOND = 1_000_000_000n;

const REQUIRED: readonly Rule[] = [
  { path: "configPath", isRequired: true, problem: filled },
  { path: "binaryPath", isRequired: true, problem: filled },
  { path: "drainDuration", isRequired: true, problem: drainProblem },
  { path: "discoveryAddress", isRequired: true, problem: addressProblem },
  { path: "proxyAdminPort", isRequired: true, problem: portProblem },
  { path: "statusPort", isRequired: true, problem: portProblem },
];

const ADDRESSES = [
  "statsdUdpAddress",
  "envoyMetricsServiceAddress",
  "envoyMetricsService.address",
  "envoyAccessLogService.address",
];

const OPTIONAL: readonly Rule[] = [
  ...ADDRESSES.map((path) => ({ path, problem: (value: Value) => value === "" ? undefined : addressProblem(value) })),
  { path: "controlPlaneAuthPolicy", problem: policyProblem },
  { path: "privateKeyProvider.cryptomb", problem: pollDelayProblem },
  { path: "privateKeyProvider.qat", problem: pollDelayProblem },
];

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

const CONNECTIONS: readonly Rule[] = [
  ...LEAST.map(([path, least]) => ({
    path,
    problem: (value: Value) => Number(value) < least ? `must be at least ${least}, not ${value}` : undefined,
  })),
  ...NOT_NEGATIVE.map((path) => ({
    path,
    problem: (value: Value) =>
      nanosecondsOf(String(value)) < 0n ? `must not be negative, but is "${value}"` : undefined,
  })),
];

/**
 * The invalid values of a decoded and merged proxy configuration.
 * Source: Istio's ValidateMeshConfigProxyConfig.
 */
export function checkProxyConfig(data: ValueMap): FieldProblem[] {
  return [
    ...brokenRules(data, [...REQUIRED, ...OPTIONAL]),
    ...brokenRules(mapAt(data, "connectionSettings"), CONNECTIONS, "connectionSettings."),
    ...nameProblems(data),
    ...tracingProblems(data),
    ...providerProblems(data),
  ];
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
  const ofFields = (names: readonly string[], text: string) =>
    names.map((name) => ({ field: `${path}.${name}`, text }));
  const isFilled = (name: string) => (tls[name] ?? "") !== "";
  const mode = textAt(tls, "mode");
  const forbidden = tls["insecureSkipVerify"] === true ? VERIFIES[mode] ?? [] : [];
  const isConfigMap = textAt(tls, "credentialName").startsWith(CONFIG_MAP_SCHEME);
  const hasCredential = mode in VERIFIES && isFilled("credentialName");
  const files = hasCredential ? ["clientCertificate", "caCertificates", "privateKey", "caCrl"] : [];
  const needed = mode === "MUTUAL" && !hasCredential ? ["clientCertificate", "privateKey"] : [];
  return [
    ...ofFields(forbidden.filter(isFilled), "must not be set together with insecureSkipVerify"),
    ...ofFields(isConfigMap ? ["credentialName"] : [], "must not refer to a ConfigMap here"),
    ...ofFields(files.filter(isFilled), "must not be set together with credentialName"),
    ...ofFields(needed.filter((name) => !isFilled(name)), "must be set for the mode MUTUAL"),
  ];
}

/** The modes that verify the server, with the fields that insecureSkipVerify excludes. */
const VERIFIES: Readonly<Record<string, readonly string[]>> = {
  SIMPLE: ["caCertificates", "credentialName", "subjectAltNames"],
  MUTUAL: ["caCertificates", "subjectAltNames"],
};
