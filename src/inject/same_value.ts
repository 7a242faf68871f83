import { isList, isMap, type Value } from "../core/value.ts";

/** Whether two values say the same; the order of keys does not count. */
export function sameValue(a: Value, b: Value): boolean {
  if (a === b) return true;
  if (isList(a)) {
    return isList(b) && a.length === b.length && a.every((item, index) => sameValue(item, b[index] ?? null));
  }
  if (isMap(a)) return isMap(b) && sameMap(a, b);
  return isNumber(a) && isNumber(b) && Number(a) === Number(b);
}

function sameMap(a: { [key: string]: Value }, b: { [key: string]: Value }): boolean {
  const keys = Object.keys(a);
  if (keys.length !== Object.keys(b).length) return false;
  return keys.every((key) => b[key] !== undefined && sameValue(a[key] ?? null, b[key]));
}

function isNumber(value: Value): value is number | bigint {
  return typeof value === "number" || typeof value === "bigint";
}
