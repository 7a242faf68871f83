/**
 * Builds the proxy configuration from the flags of Istio 1.0 to 1.5, instead of `PROXY_CONFIG`. Like Istio 1.6 and
 * later, the agent ignores these flags if `PROXY_CONFIG` is set.
 */
import { parseProxyConfig, type ProxyConfig } from "../../istio/configuration.ts";
import { parseBool } from "../../golang/go_bool.ts";
import { parseYaml } from "../../yaml/mod.ts";
import { flagEntries } from "../../golang/flags/mod.ts";
import { type FlagName, OLD_FLAGS } from "./flags.ts";

type Given = ReadonlyMap<FlagName, string>;

const TEXTS: readonly FlagName[] = [
  "configPath",
  "binaryPath",
  "drainDuration",
  "parentShutdownDuration",
  "discoveryAddress",
  "statsdUdpAddress",
  "controlPlaneAuthPolicy",
  "customConfigFile",
  "serviceCluster",
];
const PORTS: readonly FlagName[] = ["proxyAdminPort", "statusPort"];

/** Returns the old flags that were given. */
export function oldFlags(given: Given): string[] {
  return flagEntries(OLD_FLAGS).flatMap(([key, { name }]) => given.has(key) ? [`--${name}`] : []);
}

/** Builds the proxy configuration. Throws a MeshError for an invalid value, such as a service that is not JSON. */
export function proxyConfigOfFlags(given: Given): ProxyConfig {
  const data: Record<string, unknown> = {};
  for (const name of TEXTS) if (given.has(name)) data[name] = given.get(name);
  for (const name of PORTS) if (given.has(name)) data[name] = Number(given.get(name));
  const tracing = tracingOf(given);
  if (tracing !== undefined) data["tracing"] = tracing;
  Object.assign(data, servicesOf(given));
  return parseProxyConfig(JSON.stringify(data), "command line");
}

function isFilled(given: Given, name: FlagName): boolean {
  return (given.get(name) ?? "") !== "";
}

/** Returns the first tracer that is given, in pilot-agent's order: LightStep, Zipkin, Datadog. */
function tracingOf(given: Given): Record<string, unknown> | undefined {
  const address = (name: FlagName) => ({ address: given.get(name) });
  if (isFilled(given, "lightstepAddress")) {
    const lightstep = { ...address("lightstepAddress"), accessToken: given.get("lightstepAccessToken") ?? "" };
    const isSecure = parseBool(given.get("lightstepSecure") ?? "false") === true;
    const caCertificates = given.get("lightstepCacertPath") ?? "";
    return isSecure ? { lightstep, tlsSettings: { mode: "SIMPLE", caCertificates } } : { lightstep };
  }
  if (isFilled(given, "zipkinAddress")) return { zipkin: address("zipkinAddress") };
  return isFilled(given, "datadogAgentAddress") ? { datadog: address("datadogAgentAddress") } : undefined;
}

/** Returns the remote services. Releases 1.1 to 1.3 had a flag for an address, and later releases a flag for JSON. */
function servicesOf(given: Given): Record<string, unknown> {
  const services: Record<string, unknown> = {};
  const address = given.get("envoyMetricsServiceAddress") ?? "";
  if (address !== "") services["envoyMetricsService"] = { address };
  for (const name of ["envoyMetricsService", "envoyAccessLogService"] as const) {
    const text = given.get(name) ?? "";
    if (text !== "") services[name] = parseYaml(text);
  }
  return services;
}
