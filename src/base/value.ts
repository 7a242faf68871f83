/**
 * The data of a manifest or a values file: JSON, with integers beyond 2^53 as `bigint`. Kubernetes decodes integers as
 * int64, and JavaScript numbers would round them.
 */
export type Value = null | boolean | number | bigint | string | Value[] | ValueMap;

/** A mapping with string keys. Use `newMap`, so that `__proto__` is a normal key. */
export interface ValueMap {
  [key: string]: Value;
}

/**
 * The class of mappings. Its prototype is empty and inherits nothing. V8 gives objects of a class a shape; objects from
 * `Object.create(null)` are hash tables, with three times the size and half the speed.
 */
class Mapping {
  [key: string]: Value;
}
Reflect.deleteProperty(Mapping.prototype, "constructor");
Object.freeze(Object.setPrototypeOf(Mapping.prototype, null));

/** An empty mapping that inherits nothing: `__proto__` and `constructor` are data. */
export function newMap(): ValueMap {
  return new Mapping();
}

/** Whether a value is a mapping. */
export function isMap(value: unknown): value is ValueMap {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** Whether a value is a list. */
export function isList(value: unknown): value is Value[] {
  return Array.isArray(value);
}

const EMPTY: ValueMap = Object.freeze(newMap());

/**
 * A type with keys: a `ValueMap` with any keys, or a type that lists its keys, so that a misspelled key is a type
 * error.
 */
export type Keyed = Readonly<Record<string, Value>>;

export type KeyOf<M extends Keyed> = Extract<keyof M, string>;

/** Returns the mapping under a key, or an empty, unchangeable mapping if the key does not hold a mapping. */
export function mapAt<M extends Keyed>(map: M, key: KeyOf<M>): ValueMap {
  const value = map[key];
  return isMap(value) ? value : EMPTY;
}

/** Returns the list under a key, or an empty list if the key does not hold a list. */
export function listAt<M extends Keyed>(map: M, key: KeyOf<M>): readonly Value[] {
  const value = map[key];
  return isList(value) ? value : [];
}

/** Returns the mappings in the list under a key; leaves out other items. */
export function mapsAt<M extends Keyed>(map: M, key: KeyOf<M>): readonly ValueMap[] {
  return listAt(map, key).filter(isMap);
}

/** Returns the strings in the list under a key; leaves out other items. */
export function textsAt<M extends Keyed>(map: M, key: KeyOf<M>): string[] {
  return listAt(map, key).filter((item) => typeof item === "string");
}

/** Returns the string under a key, or `""` if the key does not hold a string. */
export function textAt<M extends Keyed>(map: M, key: KeyOf<M>): string {
  const value = map[key];
  return typeof value === "string" ? value : "";
}

/** Returns the number under a key, or `undefined` if the key does not hold a number. */
export function intAt<M extends Keyed>(map: M, key: KeyOf<M>): number | undefined {
  const value = map[key];
  if (typeof value === "bigint") return Number(value);
  return typeof value === "number" ? value : undefined;
}

/** Returns the value at a path of keys, or `undefined` if a key is missing or a parent is not a mapping. */
export function valueAt(map: ValueMap, ...path: readonly string[]): Value | undefined {
  let at: Value | undefined = map;
  for (const key of path) at = isMap(at) ? at[key] : undefined;
  return at;
}
