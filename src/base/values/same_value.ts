import { isList, isMap, newMap, type Value, type ValueMap } from "../value.ts";

/** Whether two values are deeply equal; ignores the order of keys, and whether a number is a `number` or a `bigint`. */
export function sameValue(a: Value, b: Value): boolean {
  if (a === b) return true;
  if (isList(a)) {
    return isList(b) && a.length === b.length && a.every((item, index) => sameValue(item, b[index] ?? null));
  }
  if (isMap(a)) return isMap(b) && sameMap(a, b);
  return isNumeric(a) && isNumeric(b) && sameNumber(a, b);
}

/** Compares with `<` and `>`, which is exact between number and bigint. */
function sameNumber(a: number | bigint, b: number | bigint): boolean {
  return !(a < b) && !(a > b);
}

/** Returns a deep copy. */
export function copyValue(value: Value): Value {
  if (isList(value)) return value.map(copyValue);
  return isMap(value) ? copyMap(value) : value;
}

/** Returns a deep copy of a mapping. */
export function copyMap(map: ValueMap): ValueMap {
  const copy = newMap();
  for (const key of Object.keys(map)) copy[key] = copyValue(map[key] ?? null);
  return copy;
}

function sameMap(a: ValueMap, b: ValueMap): boolean {
  const keys = Object.keys(a);
  if (keys.length !== Object.keys(b).length) return false;
  return keys.every((key) => key in b && sameValue(a[key] ?? null, b[key] ?? null));
}

function isNumeric(value: Value): value is number | bigint {
  return typeof value === "number" || typeof value === "bigint";
}
