import { sprint } from "../../golang/gotemplate/mod.ts";
import { isList, isMap, newMap, type Value, type ValueMap } from "../../base/value.ts";
import type { FieldType } from "../schema/schema.ts";
import {
  applyRetainKeys,
  cleanList,
  copyMap,
  DELETE_FROM,
  directiveTarget,
  ELEMENT_ORDER,
  PATCH,
  withoutDirectives,
} from "./directives.ts";
import { asList, asMap, badDirective, goTypeName, noMergeKey, PatchError } from "./error.ts";
import { identity, orderMerged, placeOf } from "./order.ts";
import { goKind, listField, type ListRule, patchField, structType } from "./schema.ts";

/**
 * Applies a strategic merge patch to an object of a Kubernetes type, such as `Pod` or `Container`. Does not change the
 * arguments. The result shares subtrees with the arguments, so change only copies of it.
 * Throws a PatchError with Kubernetes' text for an invalid patch.
 * Source of the rules: Kubernetes' documentation of strategic merge patch and apimachinery's StrategicMergeMapPatch.
 */
export function strategicMerge(original: ValueMap, patch: ValueMap, type: string): ValueMap {
  return mergeMap(original, patch, structType(type));
}

function mergeMap(original: ValueMap, patch: ValueMap, type: FieldType): ValueMap {
  const directive = patch[PATCH];
  if (directive !== undefined) return applyDirective(directive, patch);
  const result = copyMap(original);
  const changes = copyMap(patch);
  applyRetainKeys(result, changes);
  for (const key of Object.keys(changes)) {
    if (key.startsWith(ELEMENT_ORDER)) applyElementOrder(result, changes, { key, type });
  }
  for (const key in changes) mergeField(result, { key, value: changes[key] ?? null, type });
  return result;
}

function applyDirective(directive: Value, patch: ValueMap): ValueMap {
  if (directive === "replace") return copyMap(patch, PATCH);
  if (directive === "delete") return newMap();
  throw badDirective(directive, patch);
}

interface Change {
  readonly key: string;
  readonly value: Value;
  readonly type: FieldType;
}

/** Merges one field of a patch into `result`, a copy that belongs to the caller. */
function mergeField(result: ValueMap, { key, value, type }: Change): void {
  const deletes = key.startsWith(DELETE_FROM);
  const name = deletes ? directiveTarget(key, DELETE_FROM) : key;
  const original = result[name];
  if (value === null) delete result[name];
  else if (original !== undefined && goTypeName(original) === goTypeName(value)) {
    result[name] = mergeSameType(original, { key: name, value, type }, deletes);
  } else if (!deletes) {
    const clean = withoutDirectives(value);
    if (clean === undefined) delete result[name];
    else result[name] = clean;
  }
}

function mergeSameType(original: Value, { key, value, type }: Change, deletes: boolean): Value {
  if (isMap(original) && isMap(value)) return mergeMap(original, value, patchField(type, key).type);
  if (isList(original) && isList(value)) return mergeListField(original, value, listField(type, key), deletes);
  return value;
}

function mergeListField(original: Value[], patch: Value[], rule: ListRule, deletes: boolean): Value[] {
  return rule.merges || deletes ? mergeList(original, patch, rule, deletes) : patch;
}

/**
 * Applies `$setElementOrder/x` and the field `x` of the patch, and removes both from `changes`. The order of the
 * directive wins over the order of the patch and of the original.
 */
function applyElementOrder(result: ValueMap, changes: ValueMap, at: { key: string; type: FieldType }): void {
  const order = asList(changes[at.key] ?? null);
  delete changes[at.key];
  const name = directiveTarget(at.key, ELEMENT_ORDER);
  const original = optionalList(result[name]);
  const patch = optionalList(changes[name]);
  const rule = listField(at.type, name);
  checkElementOrder(patch ?? [], order, rule.mergeKey);
  const merged = mergeOptional(original, patch, rule);
  if (merged === undefined) return;
  result[name] = orderMerged(merged, { mergeKey: rule.mergeKey, patchOrder: order, originalOrder: original ?? [] });
  delete changes[name];
}

function optionalList(value: Value | undefined): Value[] | undefined {
  return value === undefined ? undefined : asList(value);
}

function mergeOptional(original: Value[] | undefined, patch: Value[] | undefined, rule: ListRule): Value[] | undefined {
  if (original === undefined) return patch === undefined ? undefined : cleanList(patch, true);
  return patch === undefined ? original : mergeListField(original, patch, rule, false);
}

function hasDirective(item: Value | undefined): boolean {
  return isMap(item) && PATCH in item;
}

/**
 * Throws a PatchError if the elements of the patch are in a different order from the directive, or if the directive
 * lacks an element.
 */
function checkElementOrder(patch: readonly Value[], order: readonly Value[], mergeKey: string): void {
  if (patch.length === 0 || order.length === 0) return;
  const named = patch.filter((item) => !(isMap(item) && item[PATCH] === "delete"));
  let next = 0;
  for (const item of order) {
    // Skips elements with other directives, as Kubernetes does, except those after the last name in `order`.
    while (next < named.length && hasDirective(named[next])) next++;
    const expected = named[next];
    if (expected !== undefined && identity(expected, mergeKey) === identity(item, mergeKey)) next++;
  }
  if (next < named.length) {
    throw new PatchError(
      `The order in patch list:\n${sprint(patch)}\n doesn't match ${ELEMENT_ORDER} list:\n${sprint(order)}\n`,
    );
  }
}

/**
 * Merges a list by element: mappings by their merge key, scalars as a set. If `deletes` is true, removes the scalars in
 * the patch from the list. Throws a PatchError if the elements have several types or lack the merge key.
 */
function mergeList(original: Value[], patch: Value[], rule: ListRule, deletes: boolean): Value[] {
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
  const changes = patch.filter((item) => !hasDirective(item));
  // After `$patch: replace`, the remaining elements are the whole list, even with duplicate keys.
  if (base === undefined) return orderMerged(changes, { mergeKey, patchOrder: [], originalOrder: changes });
  const merged = [...base];
  const find = finder(merged, mergeKey);
  for (const change of changes) mergeElement(merged, asMap(change), { ...rule, find });
  return orderMerged(merged, { mergeKey, patchOrder: changes, originalOrder: base });
}

/**
 * Returns the original without the elements that the patch deletes; `undefined` if the patch replaces the whole list.
 */
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

/**
 * Returns an indexed lookup in a list that only grows at its end, so that merging thousands of variables takes
 * linear time.
 */
function finder(list: readonly Value[], mergeKey: string): Finder {
  const places = new Map<Value, number>();
  let known = 0;
  return (value) => {
    // The index lacks null keys, because a merge removes a merge key that is null in the patch.
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
