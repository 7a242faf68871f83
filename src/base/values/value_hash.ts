import { isList, isMap, type Value, type ValueMap } from "../value.ts";

/**
 * Returns a hash. Values that are equal according to `sameValue` have the same hash; different values rarely do. Reads
 * the value once.
 */
export function valueHash(value: Value): number {
  if (isList(value)) return value.reduce<number>((hash, item) => mix(hash, valueHash(item)), LIST);
  if (isMap(value)) return mapHash(value);
  return textHash(
    typeof value === "string" ? `"${value}` : typeof value === "bigint" ? String(Number(value)) : String(value),
  );
}

const LIST = 1;
const MAP = 2;

/** Hashes a mapping, independent of the order of keys. */
function mapHash(map: ValueMap): number {
  let sum = MAP;
  for (const key of Object.keys(map)) sum = (sum + mix(textHash(key), valueHash(map[key] ?? null))) | 0;
  return sum;
}

/** Hashes the UTF-16 units of a text with FNV-1a. */
function textHash(text: string): number {
  let hash = 0x811c9dc5 | 0;
  for (let at = 0; at < text.length; at++) hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193);
  return hash;
}

function mix(hash: number, other: number): number {
  return (Math.imul(hash, 31) + Math.imul(other ^ (other >>> 15), 0x2c1b3c6d)) | 0;
}
