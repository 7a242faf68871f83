/**
 * Data as a manifest or a values file holds it: what JSON can say, with integers beyond 2^53 as `bigint` so that an
 * int64 or uint64 survives (Kubernetes decodes integers as int64, JavaScript numbers would round them).
 */
export type Value = null | boolean | number | bigint | string | Value[] | ValueMap;

/** A mapping; keys are strings, as Kubernetes only reads JSON objects. Made by `newMap`, so `__proto__` is a key like any other. */
export interface ValueMap {
  [key: string]: Value;
}

/**
 * What mappings are made as. Nothing is inherited: the prototype is empty and has none itself. To V8 objects of a class
 * have a shape; those of `Object.create(null)` are hash tables from the start, of three times the size and half the speed.
 */
class Mapping {
  [key: string]: Value;
}
Reflect.deleteProperty(Mapping.prototype, "constructor");
Object.freeze(Object.setPrototypeOf(Mapping.prototype, null));

/** An empty mapping that inherits nothing: a key named `__proto__` or `constructor` is data. */
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
