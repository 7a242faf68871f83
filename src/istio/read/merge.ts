import { compareUtf8 } from "../../golang/go_json.ts";
import { isList, isMap, type Value, type ValueMap } from "../../base/value.ts";
import { assign, defaultProxyConfig, type MeshConfig, type ProxyConfig } from "../config.ts";
import { clearOneof } from "../decode/decode.ts";
import type { Era } from "../era.ts";
import { MESH_CONFIG, messageType, PROXY_CONFIG } from "../schema/schema.ts";

/** Merges the values of one field. Needed only if the overlay's value does not simply replace the base's value. */
type Rule = (base: Value, overlay: Value, era: Era) => Value;

const PROXY_RULES: ReadonlyMap<string, Rule> = new Map([["proxyMetadata", mergeKeys], ["proxyHeaders", mergeHeaders]]);

const MESH_RULES: ReadonlyMap<string, Rule> = new Map<string, Rule>([
  [
    "defaultConfig",
    (base, overlay, era) => mergeFields(base, overlay, { name: PROXY_CONFIG, era, rules: PROXY_RULES }),
  ],
  ["defaultProviders", mergeKeys],
  ["extensionProviders", mergeProviders],
  ["trustDomainAliases", mergeSorted],
]);

/**
 * Merges an overlay into a proxy configuration. Fields that the overlay sets replace the base's fields, except:
 * `proxyMetadata` merges by key, and `proxyHeaders` keeps the sub-fields that Istio keeps.
 * Source: Istio's mesh.MergeProxyConfig.
 */
export function mergeProxyConfig(base: ProxyConfig, overlay: ProxyConfig): ProxyConfig {
  const data = mergeFields(base.data, overlay.data, { name: PROXY_CONFIG, era: base.era, rules: PROXY_RULES });
  return { era: base.era, data };
}

/**
 * Merges an overlay into a mesh configuration. Fields that the overlay sets replace the base's fields, except:
 * `defaultConfig` merges as a proxy configuration, `defaultProviders` by field, `extensionProviders` by name, and
 * `trustDomainAliases` as a sorted set.
 * Source: Istio's mesh.ApplyMeshConfig.
 */
export function mergeMeshConfig(base: MeshConfig, overlay: MeshConfig): MeshConfig {
  const complete = assign(base.data, { defaultConfig: defaultProxyConfig(base).data });
  return {
    era: base.era,
    data: mergeFields(complete, overlay.data, { name: MESH_CONFIG, era: base.era, rules: MESH_RULES }),
  };
}

interface Merging {
  readonly name: string;
  readonly era: Era;
  readonly rules: ReadonlyMap<string, Rule>;
}

function mergeFields(base: Value, overlay: Value, merging: Merging): ValueMap {
  const data = assign(isMap(base) ? base : {}, {});
  const message = messageType(merging.name, merging.era);
  for (const [key, value] of Object.entries(isMap(overlay) ? overlay : {})) {
    const field = message.byKey.get(key);
    if (field !== undefined) clearOneof(data, message, field);
    const rule = merging.rules.get(key);
    data[key] = rule === undefined ? value : rule(data[key] ?? null, value, merging.era);
  }
  return data;
}

function mergeKeys(base: Value, overlay: Value): Value {
  return assign(isMap(base) ? base : {}, isMap(overlay) ? overlay : {});
}

/**
 * Sub-fields of the base's `proxyHeaders` that are kept if the overlay does not set them. All other sub-fields are
 * removed.
 */
const KEPT_HEADERS = ["forwardedClientCert", "requestId", "attemptCount", "server", "envoyDebugHeaders"];

function mergeHeaders(base: Value, overlay: Value): Value {
  if (!isMap(base) || !isMap(overlay)) return overlay;
  const merged = assign(overlay, {});
  for (const key of KEPT_HEADERS) {
    const before = base[key];
    if (before !== undefined && isUnsetHeader(overlay[key])) merged[key] = before;
  }
  return merged;
}

function isUnsetHeader(value: Value | undefined): boolean {
  return value === undefined || value === "UNDEFINED";
}

/** Replaces providers with the same name in place, and appends new providers. */
function mergeProviders(base: Value, overlay: Value): Value {
  const merged = isList(base) ? [...base] : [];
  // Reversed, so that the first provider with a name wins.
  const places = new Map(merged.map((known, at) => [nameOf(known), at] as const).toReversed());
  for (const provider of isList(overlay) ? overlay : []) {
    const name = nameOf(provider);
    const at = places.get(name);
    if (at === undefined) places.set(name, merged.push(provider) - 1);
    else merged[at] = provider;
  }
  return merged;
}

function nameOf(provider: Value): Value {
  return isMap(provider) ? provider["name"] ?? "" : "";
}

function mergeSorted(base: Value, overlay: Value): Value {
  const names = [...isList(base) ? base : [], ...isList(overlay) ? overlay : []];
  return [...new Set(names.filter((name) => typeof name === "string"))].sort(compareUtf8);
}
