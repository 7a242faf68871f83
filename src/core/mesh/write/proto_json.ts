import { goJson } from "../../gojson/mod.ts";
import { type Value, type ValueMap } from "../../value.ts";
import { assign, defaultProxyConfig, type ProxyConfig } from "../config.ts";
import { defaultsOf } from "../read/defaults.ts";
import { encodeMessage } from "./encode.ts";
import type { Era } from "../era.ts";
import { PROXY_CONFIG } from "../schema/schema.ts";

/** Fields that `PROXY_CONFIG` omits if they have the default value. Source: Istio's injector, protoToJSON. */
const LEFT_OUT = [
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

/** Most pods have the mesh's proxy configuration, so its text is cached. */
const shortTexts = new WeakMap<ProxyConfig, string>();

const defaultTexts = new Map<Era, ReadonlyMap<string, string>>();

/**
 * The template function `protoToJSON`: a proxy configuration as compact JSON, fields in the order of the proto, without
 * default values.
 */
export function protoToJson(proxy: ProxyConfig): string {
  const known = shortTexts.get(proxy);
  if (known !== undefined) return known;
  const text = shortText(proxy);
  shortTexts.set(proxy, text);
  return text;
}

function shortText(proxy: ProxyConfig): string {
  const defaults = textsOfDefaults(proxy.era);
  const data = assign(proxy.data, {});
  for (const [key, text] of defaults) {
    if (data[key] !== undefined && fieldText(key, data[key], proxy.era) === text) delete data[key];
  }
  return proxyConfigJson({ era: proxy.era, data });
}

/** A whole proxy configuration as compact proto3 JSON. */
export function proxyConfigJson(proxy: ProxyConfig): string {
  return goJson(encodeMessage(proxy.data, PROXY_CONFIG, proxy.era));
}

function textsOfDefaults(era: Era): ReadonlyMap<string, string> {
  const known = defaultTexts.get(era);
  if (known !== undefined) return known;
  const { data } = defaultProxyConfig(defaultsOf(era));
  const texts = new Map(LEFT_OUT.flatMap((key) => defaultText(key, data, era)));
  defaultTexts.set(era, texts);
  return texts;
}

function defaultText(key: string, data: ValueMap, era: Era): [string, string][] {
  const value = data[key];
  return value === undefined ? [] : [[key, fieldText(key, value, era)]];
}

function fieldText(key: string, value: Value, era: Era): string {
  return goJson(encodeMessage({ [key]: value }, PROXY_CONFIG, era));
}
