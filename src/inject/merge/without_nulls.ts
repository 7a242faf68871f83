import { onceForShared } from "../../base/values/mod.ts";
import { isList, isMap, newMap, type Value, type ValueMap } from "../../base/value.ts";

/**
 * Removes null fields that come from a template (`emptyDir:` without a value), which Kubernetes drops. Parts shared with
 * `original` are the user's and stay unchanged.
 */
export function withoutNulls(value: ValueMap, original: ValueMap): ValueMap {
  if (!hasNulls(value)) return value;
  const own = new Set<Value>();
  collect(original, own);
  return cleanMap(value, own);
}

function collect(value: Value, into: Set<Value>): void {
  if (!isMap(value) && !isList(value)) return;
  into.add(value);
  if (isList(value)) { for (const item of value) collect(item, into); }
  else for (const key in value) collect(value[key] ?? null, into);
}

function clean(value: Value, own: ReadonlySet<Value>): Value {
  if (own.has(value) || !hasNulls(value)) return value;
  if (isList(value)) return value.map((item) => clean(item, own));
  return isMap(value) ? cleanMap(value, own) : value;
}

function cleanMap(map: ValueMap, own: ReadonlySet<Value>): ValueMap {
  const copy = newMap();
  for (const key in map) if (map[key] !== null) copy[key] = clean(map[key] ?? null, own);
  return copy;
}

const hasNulls = onceForShared((value: Value): boolean => {
  if (isList(value)) return value.some(hasNulls);
  if (!isMap(value)) return false;
  for (const key in value) if (value[key] === null || hasNulls(value[key] ?? null)) return true;
  return false;
});
