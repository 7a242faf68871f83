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

/** The `defaultConfig` of each mesh. All pods get the same object, so that callers can cache results by object. */
const defaultConfigs = new WeakMap<MeshConfig, ProxyConfig>();

/** Returns the mesh's `defaultConfig`: always the same object for the same mesh. */
export function defaultProxyConfig(mesh: MeshConfig): ProxyConfig {
  const known = defaultConfigs.get(mesh);
  if (known !== undefined) return known;
  const data = mesh.data["defaultConfig"];
  const config = { era: mesh.era, data: isMap(data) ? data : newMap() };
  defaultConfigs.set(mesh, config);
  return config;
}

/** A copy of the mesh configuration with `proxy` as its `defaultConfig`. */
export function withDefaultProxyConfig(mesh: MeshConfig, proxy: ProxyConfig): MeshConfig {
  return { era: mesh.era, data: assign(mesh.data, { defaultConfig: proxy.data }) };
}

/** A copy of a mapping with some keys set. */
export function assign(base: ValueMap, set: ValueMap): ValueMap {
  return Object.assign(newMap(), base, set);
}
