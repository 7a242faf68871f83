import { isMap, newMap, type ValueMap } from "../value.ts";
import type { Era } from "./era.ts";

/**
 * A mesh configuration with all defaults in it: plain data by JSON names, as `decodeMessage` makes it. Fields that the
 * schema does not know are in it too. Never changed: what differs is another object.
 */
export interface MeshConfig {
  readonly era: Era;
  readonly data: ValueMap;
}

/** The configuration of one proxy, in the same form. */
export interface ProxyConfig {
  readonly era: Era;
  readonly data: ValueMap;
}

/** The proxy configuration that a mesh gives to every proxy. */
export function defaultProxyConfig(mesh: MeshConfig): ProxyConfig {
  const data = mesh.data["defaultConfig"];
  return { era: mesh.era, data: isMap(data) ? data : newMap() };
}

/** The same mesh configuration with another proxy configuration for every proxy. */
export function withDefaultProxyConfig(mesh: MeshConfig, proxy: ProxyConfig): MeshConfig {
  return { era: mesh.era, data: assign(mesh.data, { defaultConfig: proxy.data }) };
}

/** A copy of a mapping with some keys set. */
export function assign(base: ValueMap, set: ValueMap): ValueMap {
  return Object.assign(newMap(), base, set);
}
