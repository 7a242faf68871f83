/** Selects the fields of objects to keep in memory, because thousands of whole objects take hundreds of megabytes. */
import type { Fields } from "../../kube/client/mod.ts";
import { isList, isMap, type Value, type ValueMap } from "../../base/value.ts";

/** Returns the part of a value to keep. `fields` lists the fields that are read. */
export interface Keep {
  (value: Value): Value;
  readonly fields?: Fields;
}

export const whole: Keep = (value) => value;

/** Keeps only these fields of a mapping, or of each item of a list. Keeps scalars unchanged. */
export function fields(kept: Readonly<Record<string, Keep>>): Keep {
  const entries = Object.entries(kept);
  const keep = (value: Value): Value => {
    if (isList(value)) return value.map(keep);
    return isMap(value) ? pick(value, entries) : value;
  };
  return Object.assign(keep, { fields: fieldsOf(kept) });
}

/** Returns the fields of an object that are read. */
export function fieldsOf(kept: Readonly<Record<string, Keep>>): Exclude<Fields, true> {
  return Object.fromEntries(Object.entries(kept).map(([key, { fields = true }]) => [key, fields]));
}

/** Returns a copy of a mapping with only these fields. */
export function pick(map: { readonly [key: string]: Value }, kept: readonly (readonly [string, Keep])[]): ValueMap {
  // V8 shares the hidden class of objects with a prototype, which saves memory.
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

/** Applies `keep` to each item of a list; a value that is not a list is treated as one item. */
export function each(keep: Keep): Keep {
  return withFieldsOf(keep, (value) => isList(value) ? value.map(keep) : keep(value));
}

/** Keeps only one copy of equal values. Pods of a workload differ in little more than their names. */
export function shared(keep: Keep): Keep {
  const known = new Map<string, Value>();
  return withFieldsOf(keep, (value) => firstOf(known, JSON.stringify(value), () => keep(value)));
}

/**
 * A faster form of `shared` for mappings whose values are already shared: compares the numbers assigned to the values,
 * not their content.
 */
export function sharedParts(keep: Keep): Keep {
  const known = new Map<string, Value>();
  return withFieldsOf(keep, (value) => {
    const kept = keep(value);
    return isMap(kept) ? firstOf(known, textOfParts(kept), () => kept) : kept;
  });
}

function withFieldsOf({ fields }: Keep, keep: (value: Value) => Value): Keep {
  return Object.assign(keep, fields && { fields });
}

const NUMBERS = new WeakMap<object, number>();
let last = 0;

function firstOf(known: Map<string, Value>, text: string, keep: () => Value): Value {
  const first = known.get(text);
  if (first !== undefined) return first;
  const kept = keep();
  if (typeof kept === "object" && kept !== null) NUMBERS.set(kept, ++last);
  known.set(text, kept);
  return kept;
}

function textOfParts(map: ValueMap): string {
  let text = "";
  for (const [key, value] of Object.entries(map)) text += `${JSON.stringify(key)}:${textOfPart(value)},`;
  return text;
}

function textOfPart(value: Value): string {
  const number = typeof value === "object" && value !== null ? NUMBERS.get(value) : undefined;
  if (number !== undefined) return `#${number}`;
  return isList(value) ? `[${value.map(textOfPart).join()}]` : JSON.stringify(value);
}
