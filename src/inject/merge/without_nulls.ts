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
  if (isMap(value)) return cleanMap(value, own);
  if (!isList(value)) return value;
  const items = value.map((item) => clean(item, own));
  return items.every((item, index) => item === value[index]) ? value : items;
}

const hasNulls = onceForShared((value: Value): boolean => {
  if (isList(value)) return value.some(hasNulls);
  if (!isMap(value)) return false;
  for (const key in value) if (value[key] === null || hasNulls(value[key] ?? null)) return true;
  return false;
});

function cleanMap(map: ValueMap, own: ReadonlySet<Value>): ValueMap {
  if (own.has(map)) return map;
  let copy: ValueMap | undefined;
  for (const key in map) {
    const before = map[key] ?? null;
    const after = before === null ? null : clean(before, own);
    if (after === before && after !== null) continue;
    copy ??= Object.assign(newMap(), map);
    if (after === null) delete copy[key];
    else copy[key] = after;
  }
  return copy ?? map;
}
