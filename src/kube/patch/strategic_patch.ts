/** Builds the patch that turns one object into another, the inverse of `strategicMerge`. */
import { sameValue } from "../../base/values/mod.ts";
import { isList, isMap, newMap, type Value, type ValueMap } from "../../base/value.ts";
import { type Field, type FieldType, findField, structSchema } from "../schema/schema.ts";
import { PATCH } from "./directives.ts";
import { PatchError } from "./error.ts";
import { structType } from "./schema.ts";

/**
 * Returns the strategic merge patch that turns `before` into `after`, for an object of a Kubernetes type; empty if they
 * are equal. Without a type, no merge keys are known, so the patch contains each changed list as a whole (RFC 7386).
 *
 * The patch of a list with merge keys starts with the deleted elements. Then it has the elements of `after`, up to the
 * last new, changed or moved element. Unchanged elements have only their keys, which set the order of the merged list.
 * Kubernetes and kustomize then give the same order, although kustomize does not know `$setElementOrder`.
 * Throws a PatchError for a list with a duplicate or missing key.
 */
export function strategicPatch(before: ValueMap, after: ValueMap, type?: string): ValueMap {
  return mapPatch(before, after, type === undefined ? undefined : structType(type));
}

type MaybeType = FieldType | undefined;

function mapPatch(before: ValueMap, after: ValueMap, type: MaybeType): ValueMap {
  const patch = newMap();
  for (const key of Object.keys(before)) {
    if ((after[key] ?? null) === null && before[key] !== null) patch[key] = null;
  }
  for (const key of Object.keys(after)) {
    const value = after[key] ?? null;
    const old = before[key] ?? null;
    if (value !== null && !sameValue(old, value)) patch[key] = valuePatch(old, value, key, type);
  }
  return patch;
}

function valuePatch(old: Value, value: Value, key: string, parent: MaybeType): Value {
  const field = parent?.kind === "struct" ? findField(structSchema(parent.struct), key) : undefined;
  if (isMap(old) && isMap(value)) return innerPatch(old, value, field?.type);
  if (isList(old) && isList(value) && field?.mergesList === true) return listPatch(old, value, field);
  return value;
}

/**
 * Patches a mapping, or replaces it if a scalar changes its type: kustomize would keep the old quotes (`port: "http"`
 * -> `port: "15020"`).
 */
function innerPatch(old: ValueMap, value: ValueMap, type: MaybeType): ValueMap {
  const changesType = Object.keys(value).some((key) => !sameKind(old[key] ?? null, value[key] ?? null));
  return changesType ? Object.assign(newMap(), { [PATCH]: "replace" }, value) : mapPatch(old, value, type);
}

/** Returns false for scalars of different types, and true for all other values. */
function sameKind(a: Value, b: Value): boolean {
  if (a === null || b === null || typeof a === "object" || typeof b === "object") return true;
  return typeof a === typeof b || (typeof a !== "string" && typeof b !== "string");
}

function listPatch(before: readonly Value[], after: readonly Value[], field: Field): Value[] {
  const { mergeKey, type } = field;
  const element = type.kind === "list" ? type.element : undefined;
  const old = byKey(before, field);
  const next = byKey(after, field);
  const kept = [...old].filter(([key]) => next.has(key)).map(([, item]) => item);
  const gone = [...old].filter(([key]) => !next.has(key));
  const named = [...next].slice(0, next.size - sameAtEnd(kept, [...next.values()]));
  return [
    ...gone.map(([, item]) => Object.assign(keysOf(item, mergeKey), { [PATCH]: "delete" })),
    ...named.map(([key, item]) => {
      const known = old.get(key);
      return known === undefined ? item : Object.assign(keysOf(item, mergeKey), mapPatch(known, item, element));
    }),
  ];
}

function sameAtEnd(before: readonly Value[], after: readonly Value[]): number {
  let count = 0;
  while (count < before.length && sameValue(before.at(-count - 1) ?? null, after.at(-count - 1) ?? null)) count++;
  return count;
}

/** Additional merge keys of kustomize, which also identifies a port by its protocol. */
const MORE_KEYS: Readonly<Record<string, string>> = { containerPort: "protocol" };

function keysOf(item: ValueMap, mergeKey: string): ValueMap {
  const keys = newMap();
  for (const key of [mergeKey, MORE_KEYS[mergeKey] ?? mergeKey]) {
    const value = item[key] ?? null;
    if (value !== null) keys[key] = value;
  }
  return keys;
}

function byKey(list: readonly Value[], { json, mergeKey }: Field): ReadonlyMap<Value, ValueMap> {
  const items = new Map<Value, ValueMap>();
  for (const item of list) {
    const key = isMap(item) ? item[mergeKey] ?? null : null;
    if (!isMap(item) || key === null) throw new PatchError(`an element of "${json}" has no "${mergeKey}"`);
    if (items.has(key)) throw new PatchError(`two elements of "${json}" have the ${mergeKey} "${String(key)}"`);
    items.set(key, item);
  }
  return items;
}
