import { oncePer } from "../base/values/mod.ts";
import { isMap, newMap, type ValueMap } from "../base/value.ts";
import type { Era } from "./era.ts";
import type { MeshData, ProxyData } from "./schema/fields.ts";

/**
 * A mesh configuration with all defaults: the result of `decodeMessage`, with JSON names as keys and with unknown
 * fields. It is immutable: changes create a new object.
 */
export interface MeshConfig {
  readonly era: Era;
  readonly data: MeshData;
}

/** The configuration of one proxy, in the same form as `MeshConfig`. */
export interface ProxyConfig {
  readonly era: Era;
  readonly data: ProxyData;
}

/** Returns the mesh's `defaultConfig`: always the same object for the same mesh, so that callers can cache by object. */
export const defaultProxyConfig = oncePer(({ era, data: { defaultConfig } }: MeshConfig): ProxyConfig => {
  return { era, data: isMap(defaultConfig) ? defaultConfig : newMap() };
});

/** A copy of the mesh configuration with `proxy` as its `defaultConfig`. */
export function withDefaultProxyConfig(mesh: MeshConfig, proxy: ProxyConfig): MeshConfig {
  return { era: mesh.era, data: assign(mesh.data, { defaultConfig: proxy.data }) };
}

/** A copy of a mapping with some keys set. */
export function assign(base: ValueMap, set: ValueMap): ValueMap {
  return Object.assign(newMap(), base, set);
}
