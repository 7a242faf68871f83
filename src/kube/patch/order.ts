import { isMap, type Value } from "../../base/value.ts";
import { asMap, noMergeKey } from "./error.ts";

interface OrderRule {
  /** The field that identifies an element; empty for lists of scalars. */
  readonly mergeKey: string;
  readonly patchOrder: readonly Value[];
  readonly originalOrder: readonly Value[];
}

/**
 * Orders a merged list as Kubernetes does. Elements that the patch contains take the order of the patch; the others
 * keep their original order. The two are interleaved: an original element that came before a patch element stays before
 * that element. Throws a PatchError if an element lacks the merge key.
 */
export function orderMerged(merged: readonly Value[], rule: OrderRule): Value[] {
  const { mergeKey } = rule;
  const patchPlaces = places(rule.patchOrder, mergeKey);
  const fromPatch: Value[] = [];
  const fromOriginal: Value[] = [];
  for (const item of merged) (patchPlaces.has(identity(item, mergeKey)) ? fromPatch : fromOriginal).push(item);
  const originalPlaces = places(rule.originalOrder, mergeKey);
  const placeIn = (all: Map<Value, number>) => (item: Value) => all.get(identity(item, mergeKey)) ?? -1;
  sortByPlace(fromPatch, placeIn(patchPlaces));
  sortByPlace(fromOriginal, placeIn(originalPlaces));
  return interleave(fromOriginal, fromPatch, placeIn(originalPlaces));
}

/**
 * Returns the ID of an element: the value of its merge key, or the scalar itself. Throws a PatchError if the key is
 * missing.
 */
export function identity(item: Value, mergeKey: string): Value {
  if (mergeKey === "") return item;
  const value = asMap(item)[mergeKey];
  if (value === undefined) throw noMergeKey(asMap(item), mergeKey);
  return value;
}

/** Returns the index of the element with this merge key value, or -1. */
export function placeOf(list: readonly Value[], mergeKey: string, value: Value): number {
  return list.findIndex((item) => isMap(item) && item[mergeKey] === value);
}

function places(order: readonly Value[], mergeKey: string): Map<Value, number> {
  const result = new Map<Value, number>();
  order.forEach((item, index) => {
    const id = identity(item, mergeKey);
    if (!result.has(id)) result.set(id, index);
  });
  return result;
}

/** Sorts by the index that `place` returns. Elements with `$patch: delete`, left by a duplicate key, go last. */
function sortByPlace(items: Value[], place: (item: Value) => number): void {
  const rank = (item: Value) => isMap(item) && item["$patch"] === "delete" ? Number.MAX_SAFE_INTEGER : place(item);
  items.sort((a, b) => rank(a) - rank(b));
}

function interleave(left: readonly Value[], right: readonly Value[], place: (item: Value) => number): Value[] {
  const result: Value[] = [];
  let next = 0;
  for (const item of right) {
    const limit = place(item);
    while (next < left.length && place(left[next] ?? null) >= 0 && place(left[next] ?? null) < limit) {
      result.push(left[next++] ?? null);
    }
    result.push(item);
  }
  return result.concat(left.slice(next));
}
