/**
 * The data of a manifest or a values file: JSON, with integers beyond 2^53 as `bigint`, because Kubernetes decodes integers
 * as int64 and JavaScript numbers would round them.
 */
export type Value = null | boolean | number | bigint | string | Value[] | ValueMap;

/** A mapping with string keys. Use `newMap`, so that `__proto__` is a normal key. */
export interface ValueMap {
  [key: string]: Value;
}

/**
 * The class of mappings. Its prototype is empty and inherits nothing. V8 gives objects of a class a shape; objects of
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

/** The keys that a mapping may have. */
export type KeyOf<M extends Keyed> = Extract<keyof M, string>;

/** The mapping under a key; an empty one, which cannot be changed, if the key holds none. */
export function mapAt<M extends Keyed>(map: M, key: KeyOf<M>): ValueMap {
  const value = map[key];
  return isMap(value) ? value : EMPTY;
}

/** The list under a key, an empty one if the key holds none. */
export function listAt<M extends Keyed>(map: M, key: KeyOf<M>): readonly Value[] {
  const value = map[key];
  return isList(value) ? value : [];
}

/** The mappings in the list under a key; other items are left out. */
export function mapsAt<M extends Keyed>(map: M, key: KeyOf<M>): readonly ValueMap[] {
  return listAt(map, key).filter(isMap);
}

/** The strings in the list under a key; other items are left out. */
export function textsAt<M extends Keyed>(map: M, key: KeyOf<M>): string[] {
  return listAt(map, key).filter((item) => typeof item === "string");
}

/** The string under a key, `""` if the key holds none. */
export function textAt<M extends Keyed>(map: M, key: KeyOf<M>): string {
  const value = map[key];
  return typeof value === "string" ? value : "";
}

/** The number under a key, `undefined` if the key holds none. */
export function intAt<M extends Keyed>(map: M, key: KeyOf<M>): number | undefined {
  const value = map[key];
  if (typeof value === "bigint") return Number(value);
  return typeof value === "number" ? value : undefined;
}

/** The value at a path of keys, `undefined` if a key is missing or a parent is not a mapping. */
export function valueAt(map: ValueMap, ...path: readonly string[]): Value | undefined {
  let at: Value | undefined = map;
  for (const key of path) at = isMap(at) ? at[key] : undefined;
  return at;
}
