/** Which fields of objects stay in memory: thousands of whole objects take hundreds of megabytes. */
import { isList, isMap, type Value, type ValueMap } from "../../core/value.ts";

/** Returns the kept part of a value. */
export type Keep = (value: Value) => Value;

/** Keeps everything. */
export const whole: Keep = (value) => value;

/** Keeps these fields of a mapping, or of each item of a list; keeps scalars. */
export function fields(kept: Readonly<Record<string, Keep>>): (value: Value) => Value {
  const entries = Object.entries(kept);
  const keep: Keep = (value) => {
    if (isList(value)) return value.map(keep);
    return isMap(value) ? pick(value, entries) : value;
  };
  return keep;
}

/** The same for a mapping. */
export function pick(map: { readonly [key: string]: Value }, kept: readonly (readonly [string, Keep])[]): ValueMap {
  // V8 shares the shape of such objects, but not of objects without a prototype.
  const found: ValueMap = {};
  for (const [key, keep] of kept) {
    const value = Object.hasOwn(map, key) ? map[key] : undefined;
    if (value !== undefined) found[key] = keep(value);
  }
  return found;
}

/** Keeps the fields of a mapping whose names match. */
export function named(pattern: RegExp): Keep {
  return (value) => {
    return isMap(value) ? Object.fromEntries(Object.entries(value).filter(([key]) => pattern.test(key))) : value;
  };
}

/** Keeps equal values once: pods of a workload differ in little but their names. */
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
