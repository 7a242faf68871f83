import { intAt, isMap, mapAt, mapsAt, textAt, textsAt, type Value } from "../value.ts";
import type { MeshConfig, ProxyConfig } from "./config.ts";
// Only the types: the schemas load zod, which a configuration that was decoded does not need.
import type { MeshSettings, ProxySettings } from "./settings_schema.ts";

/** What the program uses of a proxy configuration, typed; what is not set has the zero that Go gives it. */
export function proxySettings({ data }: ProxyConfig): ProxySettings {
  return {
    configPath: textAt(data, "configPath"),
    binaryPath: textAt(data, "binaryPath"),
    serviceCluster: textAt(data, "serviceCluster"),
    discoveryAddress: textAt(data, "discoveryAddress"),
    drainDuration: textAt(data, "drainDuration"),
    terminationDrainDuration: textAt(data, "terminationDrainDuration"),
    proxyAdminPort: intAt(data, "proxyAdminPort") ?? 0,
    statusPort: intAt(data, "statusPort") ?? 0,
    statNameLength: intAt(data, "statNameLength") ?? 0,
    concurrency: data["concurrency"] === undefined ? null : intAt(data, "concurrency") ?? 0,
    interceptionMode: oneOf(data["interceptionMode"], ["REDIRECT", "TPROXY", "NONE"]),
    controlPlaneAuthPolicy: oneOf(data["controlPlaneAuthPolicy"], ["NONE", "MUTUAL_TLS", "INHERIT"]),
    holdApplicationUntilProxyStarts: data["holdApplicationUntilProxyStarts"] === true,
    customConfigFile: textAt(data, "customConfigFile"),
    proxyBootstrapTemplatePath: textAt(data, "proxyBootstrapTemplatePath"),
    statsdUdpAddress: textAt(data, "statsdUdpAddress"),
    meshId: textAt(data, "meshId"),
    proxyMetadata: textsByKey(data["proxyMetadata"]),
    runtimeValues: textsByKey(data["runtimeValues"]),
    extraStatTags: textsAt(data, "extraStatTags"),
    caCertificatesPem: textsAt(data, "caCertificatesPem"),
  };
}

/** What the program uses of a mesh configuration besides what every proxy gets, in the same way. */
export function meshSettings({ data }: MeshConfig): MeshSettings {
  return {
    trustDomain: textAt(data, "trustDomain"),
    trustDomainAliases: textsAt(data, "trustDomainAliases"),
    rootNamespace: textAt(data, "rootNamespace"),
    proxyListenPort: intAt(data, "proxyListenPort") ?? 0,
    proxyInboundListenPort: intAt(data, "proxyInboundListenPort") ?? 0,
    enablePrometheusMerge: data["enablePrometheusMerge"] === true,
    enableTracing: data["enableTracing"] === true,
    accessLogFile: textAt(data, "accessLogFile"),
    sdsUdsPath: textAt(data, "sdsUdsPath"),
    enableSdsTokenMount: data["enableSdsTokenMount"] === true,
  };
}

/** `inboundTrafficPolicy.mode` as templates get it: `localhost` or `passthrough`. Source: Istio's injector. */
export function inboundTrafficPolicyMode({ data }: MeshConfig): "localhost" | "passthrough" {
  return mapAt(data, "inboundTrafficPolicy")["mode"] === "LOCALHOST" ? "localhost" : "passthrough";
}

/** The variant of the proxy's image (`image.imageType`), `""` for none. */
export function proxyImageType({ data }: ProxyConfig): string {
  return textAt(mapAt(data, "image"), "imageType");
}

/** Whether a tracing provider wants the attributes of a service as OpenTelemetry's conventions name them. */
export function wantsOtelServiceAttributes({ data }: MeshConfig): boolean {
  return mapsAt(data, "extensionProviders").some((provider) =>
    mapAt(provider, "opentelemetry")["serviceAttributeEnrichment"] === "OTEL_SEMANTIC_CONVENTIONS"
  );
}

/** The first is what an enum is where it is not set, or set to a number that has no name. */
function oneOf<T extends string>(value: Value | undefined, names: readonly [T, ...T[]]): T {
  return names.find((name) => name === value) ?? names[0];
}

function textsByKey(value: Value | undefined): Record<string, string> {
  const texts: Record<string, string> = Object.create(null);
  for (const [key, text] of Object.entries(isMap(value) ? value : {})) texts[key] = String(text);
  return texts;
}
