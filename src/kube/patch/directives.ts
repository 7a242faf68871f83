import { onceForShared } from "../../base/values/mod.ts";
import { isList, isMap, newMap, type Value, type ValueMap } from "../../base/value.ts";
import { PatchError } from "./error.ts";

/**
 * The key of a directive in a patch. Its value, `replace` or `delete`, applies to the whole mapping that contains it.
 */
export const PATCH = "$patch";
const RETAIN_KEYS = "$retainKeys";
/** Prefix of the key for scalars to remove from a list. */
export const DELETE_FROM = "$deleteFromPrimitiveList";
/** Prefix of the key for the order of a list's elements. */
export const ELEMENT_ORDER = "$setElementOrder";

/** Returns the field of a directive such as `$setElementOrder/containers`. */
export function directiveTarget(key: string, directive: typeof DELETE_FROM | typeof ELEMENT_ORDER): string {
  if (key.startsWith(`${directive}/`)) return key.slice(directive.length + 1);
  throw new PatchError(`invalid patch format of ${directive === DELETE_FROM ? "primitive" : "setElementOrder"} list`);
}

/**
 * Returns a patch value for a new field. Leaves out mappings that have a `$patch` directive. Also leaves out nulls,
 * unless `keepNulls` is true.
 */
export function withoutDirectives(value: Value, keepNulls = false): Value | undefined {
  if (isClean(value)) return value;
  if (isMap(value)) return PATCH in value ? undefined : cleanMap(value, keepNulls);
  return isList(value) ? cleanList(value, keepNulls) : value;
}

const isClean = onceForShared((value: Value): boolean => {
  if (isList(value)) return value.every(isClean);
  if (!isMap(value)) return true;
  for (const key in value) if (key === PATCH || value[key] === null || !isClean(value[key] ?? null)) return false;
  return true;
});

function cleanMap(map: ValueMap, keepNulls: boolean): ValueMap {
  const result = newMap();
  for (const key in map) {
    const value = map[key] ?? null;
    const clean = value === null && !keepNulls ? undefined : withoutDirectives(value, keepNulls);
    if (clean !== undefined) result[key] = clean;
  }
  return result;
}

/** Applies `withoutDirectives` to a list. */
export function cleanList(list: readonly Value[], keepNulls: boolean): Value[] {
  return list.map((item) => withoutDirectives(item, keepNulls)).filter((item) => item !== undefined);
}

/** Returns a shallow copy of a mapping, without the key `without` if given. */
export function copyMap(map: ValueMap, without?: string): ValueMap {
  const result = newMap();
  for (const key in map) if (key !== without) result[key] = map[key] ?? null;
  return result;
}

/**
 * Applies `$retainKeys`: removes unlisted keys from `original`, and the directive from `patch`. Changes both arguments.
 * Throws a PatchError if the directive is not a list, or the patch sets an unlisted key.
 */
export function applyRetainKeys(original: ValueMap, patch: ValueMap): void {
  const kept = patch[RETAIN_KEYS];
  if (kept === undefined) return;
  delete patch[RETAIN_KEYS];
  if (!isList(kept)) throw badRetainKeys();
  const names = new Set(kept);
  for (const key in patch) {
    const isDirective = key.startsWith(DELETE_FROM) || key.startsWith(ELEMENT_ORDER);
    if (patch[key] !== null && !isDirective && !names.has(key)) throw badRetainKeys();
  }
  for (const key of Object.keys(original)) if (!names.has(key)) delete original[key];
}

function badRetainKeys(): PatchError {
  return new PatchError("invalid patch format of retainKeys");
}
