import { sprint } from "../../gotemplate/mod.ts";
import { isMap, type Value, type ValueMap } from "../../value.ts";
import { PATCH } from "./directives.ts";
import { asMap, badDirective, goTypeName, noMergeKey, PatchError } from "./error.ts";
import { orderMerged, placeOf } from "./order.ts";
import { goKind, type ListRule } from "./schema.ts";
import { mergeMap } from "./strategic_merge.ts";

/**
 * Merges a list element by element: mappings by their merge key, scalars as a set; or, with `deletes`, takes the patch's
 * scalars out. PatchError if elements are of several types or lack the key.
 */
export function mergeList(original: Value[], patch: Value[], rule: ListRule, deletes: boolean): Value[] {
  if (original.length === 0 && patch.length === 0) return original;
  if (elementType(original, patch) === "map[string]interface {}") return mergeMaps(original, patch, rule);
  if (deletes) return original.filter((item) => !patch.includes(item));
  const merged = [...new Set([...original, ...patch])];
  return orderMerged(merged, { mergeKey: rule.mergeKey, patchOrder: patch, originalOrder: original });
}

function elementType(original: readonly Value[], patch: readonly Value[]): string {
  const first = original[0] ?? patch[0] ?? null;
  const type = goTypeName(first);
  if (type === "[]interface {}") throw new PatchError("lists of lists are not supported");
  const same = (item: Value) => goTypeName(item) === type;
  if (type === undefined || !original.every(same) || !patch.every(same)) {
    throw new PatchError(`list element types are not identical: ${sprint([original, patch])}`);
  }
  return type;
}

function mergeMaps(original: readonly Value[], patch: readonly Value[], rule: ListRule): Value[] {
  const { mergeKey, element } = rule;
  if (mergeKey === "") throw new PatchError(`cannot merge lists without merge key for ${goKind(element)}`);
  const base = applyElementDirectives(original, patch, mergeKey);
  const changes = patch.filter((item) => !(isMap(item) && PATCH in item));
  // `$patch: replace` among the elements: the others are the list, even where two have the same key.
  if (base === undefined) return orderMerged(changes, { mergeKey, patchOrder: [], originalOrder: changes });
  const merged = [...base];
  const find = changes.length > FEW ? finder(merged, mergeKey) : (value: Value) => placeOf(merged, mergeKey, value);
  for (const change of changes) mergeElement(merged, asMap(change), { ...rule, find });
  return orderMerged(merged, { mergeKey, patchOrder: changes, originalOrder: base });
}

/** The original without the elements that the patch deletes; `undefined` if the patch replaces the whole list. */
function applyElementDirectives(
  original: readonly Value[],
  patch: readonly Value[],
  mergeKey: string,
): readonly Value[] | undefined {
  let kept = original;
  let replaced = false;
  for (const item of patch) {
    const map = asMap(item);
    const directive = map[PATCH];
    if (directive === undefined) continue;
    if (directive === "delete") kept = withoutElement(kept, map, mergeKey);
    else if (directive === "replace") replaced = true;
    else if (directive === "merge") throw new PatchError("merging lists cannot yet be specified in the patch");
    else throw badDirective(directive, map);
  }
  return replaced ? undefined : kept;
}

function withoutElement(list: readonly Value[], target: ValueMap, mergeKey: string): readonly Value[] {
  const value = target[mergeKey];
  if (value === undefined) throw noMergeKey(target, mergeKey);
  return list.filter((item) => !(isMap(item) && item[mergeKey] === value));
}

type Finder = (value: Value) => number;

/** Up to here looking through the list costs less than an index of it. */
const FEW = 16;

/** The places of a list that grows at its end, for many questions: thousands of variables are no reason to wait. */
function finder(list: readonly Value[], mergeKey: string): Finder {
  const places = new Map<Value, number>();
  let known = 0;
  return (value) => {
    // A merge takes a key away where the patch has null for it: then the list is looked through.
    if (typeof value === "object") return placeOf(list, mergeKey, value);
    for (; known < list.length; known++) {
      const item = list[known];
      const key = isMap(item) ? item[mergeKey] : undefined;
      if (key !== undefined && !places.has(key)) places.set(key, known);
    }
    return places.get(value) ?? -1;
  };
}

function mergeElement(merged: Value[], change: ValueMap, rule: ListRule & { readonly find: Finder }): void {
  const { mergeKey, element, find } = rule;
  const value = change[mergeKey];
  if (value === undefined) throw noMergeKey(change, mergeKey);
  const place = find(value);
  const found = merged[place];
  if (isMap(found)) merged[place] = mergeMap(found, change, element);
  else merged.push(change);
}
