/** Functions that change a pod. Each function returns a new pod, which shares unchanged parts with the old pod. */
import { isList, isMap, mapAt, mapsAt, newMap, type Value, type ValueMap } from "../../base/value.ts";
import { type ContainerList, containerNamed, containersOf, metadataOf, type Pod, PROXY, specOf } from "./pod.ts";

/** Returns a copy of a mapping with one key set. Removes the key if the value is `undefined`. */
export function withKey(map: ValueMap, key: string, value: Value | undefined): ValueMap {
  if (value === undefined) return withoutKey(map, key);
  const copy: ValueMap = Object.assign(newMap(), map);
  copy[key] = value;
  return copy;
}

/** Copies without using `delete`, which makes V8 convert the object to a slow hash table. */
function withoutKey(map: ValueMap, key: string): ValueMap {
  const copy = newMap();
  for (const each in map) if (each !== key) copy[each] = map[each] ?? null;
  return copy;
}

/** Returns a copy of a mapping in which `key` is replaced by `to` and `value`, at the same position. */
export function withReplaced(map: ValueMap, key: string, to: string, value: Value): ValueMap {
  const copy = newMap();
  for (const each in map) copy[each === key ? to : each] = each === key ? value : map[each] ?? null;
  return copy;
}

/** Returns a copy of a mapping in which the value at `path` is replaced. */
export function withAt(map: ValueMap, path: readonly string[], value: ValueMap): ValueMap {
  const [key, ...rest] = path;
  return key === undefined ? value : withKey(map, key, withAt(mapAt(map, key), rest, value));
}

export function withSpecKey(pod: Pod, key: string, value: Value | undefined): Pod {
  return withKey(pod, "spec", withKey(specOf(pod), key, value));
}

/** Sets annotations. Removes annotations whose new value is `undefined`. */
export function withAnnotations(pod: Pod, changes: Readonly<Record<string, string | undefined>>): Pod {
  return withStrings(pod, "annotations", changes);
}

/** Sets labels. Removes labels whose new value is `undefined`. */
export function withLabels(pod: Pod, changes: Readonly<Record<string, string | undefined>>): Pod {
  return withStrings(pod, "labels", changes);
}

function withStrings(pod: Pod, key: string, changes: Readonly<Record<string, string | undefined>>): Pod {
  const metadata = metadataOf(pod);
  const strings: ValueMap = Object.assign(newMap(), mapAt(metadata, key));
  for (const [name, value] of Object.entries(changes)) {
    if (value === undefined) delete strings[name];
    else strings[name] = value;
  }
  return withKey(pod, "metadata", withKey(metadata, key, strings));
}

/** Replaces each container of a list with the result of `change`; the same pod if nothing changes. */
export function mapContainers(pod: Pod, list: ContainerList, change: (container: ValueMap) => ValueMap): Pod {
  const before = specOf(pod)[list];
  if (!isList(before)) return pod;
  const after = before.map((item) => isMap(item) ? change(item) : item);
  return after.every((item, index) => item === before[index]) ? pod : withSpecKey(pod, list, after);
}

/** Replaces the proxy, in containers or init containers, with the result of `change`. */
export function mapProxy(pod: Pod, change: (proxy: ValueMap) => ValueMap): Pod {
  const list = containerNamed(containersOf(pod, "containers"), PROXY) === undefined ? "initContainers" : "containers";
  return mapContainers(pod, list, (container) => container["name"] === PROXY ? change(container) : container);
}

/** Sets an environment variable of a container. An existing variable keeps its position; a new one is appended. */
export function withEnv(container: ValueMap, name: string, value: string): ValueMap {
  const env = mapsAt(container, "env");
  const variable = envVar(name, value);
  const known = containerNamed(env, name) !== undefined;
  const next = known ? env.map((item) => item["name"] === name ? variable : item) : [...env, variable];
  return withKey(container, "env", next);
}

export function envVar(name: string, value: string): ValueMap {
  const variable = newMap();
  variable["name"] = name;
  variable["value"] = value;
  return variable;
}
