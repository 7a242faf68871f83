import { oncePer } from "../../base/values/mod.ts";
import { goJson } from "../../golang/go_json.ts";
import type { Value } from "../../base/value.ts";
import { assign, defaultProxyConfig, type ProxyConfig } from "../config.ts";
import { defaultsOf } from "../read/defaults.ts";
import { encodeMessage } from "./encode.ts";
import type { Era } from "../era.ts";
import type { ProxyData } from "../schema/fields.ts";
import { PROXY_CONFIG } from "../schema/schema.ts";

/** Fields that `PROXY_CONFIG` omits if they have the default value. Source: Istio's injector, protoToJSON. */
const LEFT_OUT: readonly (keyof ProxyData)[] = [
  "configPath",
  "binaryPath",
  "controlPlaneAuthPolicy",
  "serviceCluster",
  "drainDuration",
  "parentShutdownDuration",
  "terminationDrainDuration",
  "discoveryAddress",
  "envoyMetricsService",
  "envoyAccessLogService",
  "tracing",
  "proxyAdminPort",
  "statNameLength",
  "statusPort",
  "concurrency",
];

/**
 * The template function `protoToJSON`: a proxy configuration as compact JSON, fields in the order of the proto, without
 * default values. Most pods share the mesh's configuration.
 */
export const protoToJson = oncePer(({ era, data: own }: ProxyConfig): string => {
  const defaults = defaultProxyConfig(defaultsOf(era)).data;
  const data = assign(own, {});
  for (const key of LEFT_OUT) if (isDefault(key, data[key], defaults[key], era)) delete data[key];
  return proxyConfigJson({ era, data });
});

function isDefault(key: string, value: Value | undefined, standard: Value | undefined, era: Era): boolean {
  return value !== undefined && standard !== undefined &&
    fieldText(key, value, era) === fieldText(key, standard, era);
}

/** A whole proxy configuration as compact proto3 JSON. */
export function proxyConfigJson(proxy: ProxyConfig): string {
  return goJson(encodeMessage(proxy.data, PROXY_CONFIG, proxy.era));
}

function fieldText(key: string, value: Value, era: Era): string {
  return goJson(encodeMessage({ [key]: value }, PROXY_CONFIG, era));
}
