import { intAt, mapAt, textAt, type Value, type ValueMap } from "../base/value.ts";
import type { MeshConfig, ProxyConfig } from "./config.ts";

/** The proxy's ports, each with its use. Source: Istio, "Application Requirements", ports used by Istio. */
export const PROXY_PORTS: ReadonlyMap<number, string> = new Map([
  [15000, "Envoy's admin interface"],
  [15001, "captured outbound connections"],
  [15004, "the agent's debug interface"],
  [15006, "captured inbound connections"],
  [15008, "HBONE tunnels"],
  [15020, "the agent's merged metrics and probes"],
  [15021, "the pod's readiness"],
  [15053, "the agent's DNS proxy"],
  [15090, "Envoy's metrics"],
]);

/** Ports of every proxy that are never captured: Envoy's metrics and health, and the agent's status. */
export const UNCAPTURED_PORTS: readonly number[] = [15090, 15021, 15020];

/** The fields of a proxy configuration that the agent uses, typed. */
export type ProxySettings = ReturnType<typeof proxySettings>;

/** Reads the fields of a proxy configuration that the agent uses. An unset field has Go's zero value. */
export function proxySettings({ data }: ProxyConfig) {
  return {
    configPath: textAt(data, "configPath"),
    binaryPath: textAt(data, "binaryPath"),
    discoveryAddress: textAt(data, "discoveryAddress"),
    proxyAdminPort: intAt(data, "proxyAdminPort") ?? 0,
    statusPort: intAt(data, "statusPort") ?? 0,
    concurrency: intAt(data, "concurrency") ?? 0,
    controlPlaneAuthPolicy: oneOf(data["controlPlaneAuthPolicy"], ["NONE", "MUTUAL_TLS", "INHERIT"]),
    customConfigFile: textAt(data, "customConfigFile"),
    proxyBootstrapTemplatePath: textAt(data, "proxyBootstrapTemplatePath"),
    statsdUdpAddress: textAt(data, "statsdUdpAddress"),
    proxyMetadata: textsByKey(mapAt(data, "proxyMetadata")),
    runtimeValues: textsByKey(mapAt(data, "runtimeValues")),
  };
}

/** `inboundTrafficPolicy.mode` for templates: `localhost` or `passthrough`. Source: Istio's injector. */
export function inboundTrafficPolicyMode({ data }: MeshConfig): "localhost" | "passthrough" {
  return mapAt(data, "inboundTrafficPolicy")["mode"] === "LOCALHOST" ? "localhost" : "passthrough";
}

/**
 * Checks that a value is one of the names. Returns the first name for an enum that is unset or set to a number without
 * a name.
 */
function oneOf<T extends string>(value: Value | undefined, names: readonly [T, ...T[]]): T {
  return names.find((name) => name === value) ?? names[0];
}

function textsByKey(map: ValueMap): Readonly<Record<string, string>> {
  const texts: Record<string, string> = Object.create(null);
  for (const [key, text] of Object.entries(map)) texts[key] = String(text);
  return texts;
}
