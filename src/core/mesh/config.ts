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

/** What is made of a proxy configuration, such as its text, is made once if all pods of a mesh have the same object. */
const defaultConfigs = new WeakMap<MeshConfig, ProxyConfig>();

/** The proxy configuration that a mesh gives to every proxy: the same object for the same mesh. */
export function defaultProxyConfig(mesh: MeshConfig): ProxyConfig {
  const known = defaultConfigs.get(mesh);
  if (known !== undefined) return known;
  const data = mesh.data["defaultConfig"];
  const config = { era: mesh.era, data: isMap(data) ? data : newMap() };
  defaultConfigs.set(mesh, config);
  return config;
}

/** The same mesh configuration with another proxy configuration for every proxy. */
export function withDefaultProxyConfig(mesh: MeshConfig, proxy: ProxyConfig): MeshConfig {
  return { era: mesh.era, data: assign(mesh.data, { defaultConfig: proxy.data }) };
}

/** A copy of a mapping with some keys set. */
export function assign(base: ValueMap, set: ValueMap): ValueMap {
  return Object.assign(newMap(), base, set);
}
