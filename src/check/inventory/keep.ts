/** What stays of objects: thousands of whole ones take hundreds of megabytes, of which checks read little. */
import { isList, isMap, type Value, type ValueMap } from "../../core/value.ts";

/** What stays of a value. */
export type Keep = (value: Value) => Value;

/** All of it. */
export const whole: Keep = (value) => value;

/** Of a mapping these fields, of a list those of each item; what is neither stays as it is. */
export function fields(kept: Readonly<Record<string, Keep>>): (value: Value) => Value {
  const entries = Object.entries(kept);
  const keep: Keep = (value) => {
    if (isList(value)) return value.map(keep);
    return isMap(value) ? pick(value, entries) : value;
  };
  return keep;
}

/** The same for what is a mapping for sure. */
export function pick(map: { readonly [key: string]: Value }, kept: readonly (readonly [string, Keep])[]): ValueMap {
  // V8 keeps the shape of such objects once, and that of each without a prototype by itself.
  const found: ValueMap = {};
  for (const [key, keep] of kept) {
    const value = Object.hasOwn(map, key) ? map[key] : undefined;
    if (value !== undefined) found[key] = keep(value);
  }
  return found;
}

/** Of a mapping the fields that are called so. */
export function named(pattern: RegExp): Keep {
  return (value) => {
    return isMap(value) ? Object.fromEntries(Object.entries(value).filter(([key]) => pattern.test(key))) : value;
  };
}

/** The same, and values that are equal are one: pods of a workload differ in their names and little else. */
export function shared(keep: Keep): Keep {
  const known = new Map<string, Value>();
  return (value) => {
    const kept = keep(value);
    const text = JSON.stringify(kept, withBigints);
    const first = known.get(text);
    if (first !== undefined) return first;
    known.set(text, kept);
    return kept;
  };
}

function withBigints(_key: string, value: unknown): unknown {
  return typeof value === "bigint" ? `${value}n` : value;
}
