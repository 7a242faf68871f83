import { onceForShared } from "../../base/values/mod.ts";
import { isList, isMap, newMap, type Value, type ValueMap } from "../../base/value.ts";

/**
 * Removes null fields that come from a template, such as `emptyDir:`, because Kubernetes drops these. Null fields in
 * `original` are the user's and stay.
 */
export function withoutNulls(map: ValueMap, original: ValueMap): ValueMap {
  if (map === original || !hasNulls(map)) return map;
  const copy = newMap();
  for (const key in map) {
    const value = map[key] ?? null;
    if (value !== null) copy[key] = clean(value, original[key] ?? null);
    else if (original[key] === null) copy[key] = null;
  }
  return copy;
}

function clean(value: Value, original: Value): Value {
  if (value === original || !hasNulls(value)) return value;
  if (isMap(value)) return withoutNulls(value, isMap(original) ? original : newMap());
  if (!isList(value)) return value;
  const before = isList(original) ? original : [];
  return value.map((item) => clean(item, before.includes(item) ? item : sameName(before, item)));
}

function sameName(list: readonly Value[], item: Value): Value {
  const name = isMap(item) ? item["name"] : undefined;
  return list.find((each) => isMap(each) && name !== undefined && each["name"] === name) ?? null;
}

const hasNulls = onceForShared((value: Value): boolean => {
  if (isList(value)) return value.some(hasNulls);
  if (!isMap(value)) return false;
  for (const key in value) if (value[key] === null || hasNulls(value[key] ?? null)) return true;
  return false;
});
