import { sprint } from "../../gotemplate/mod.ts";
import { isList, isMap, newMap, type Value, type ValueMap } from "../../value.ts";
import { mergeList } from "./merge_list.ts";
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
import { asList, badDirective, goTypeName, PatchError } from "./error.ts";
import { identity, orderMerged } from "./order.ts";
import { listField, type ListRule, mapField, structType } from "./schema.ts";
import type { FieldType } from "../schema/schema.ts";

/**
 * Applies a strategic merge patch to an object of a Kubernetes type, such as `Pod` or `Container`. Neither argument is
 * changed; subtrees that the patch does not touch are shared between `original` and the result, as are parts of the
 * patch, so change the result only through copies.
 * PatchError (with Kubernetes' text) for a patch that does not fit.
 * Source of the rules: Kubernetes' documentation of strategic merge patch and apimachinery's StrategicMergeMapPatch.
 */
export function strategicMerge(original: ValueMap, patch: ValueMap, type: string): ValueMap {
  return mergeMap(original, patch, structType(type));
}

/** `strategicMerge` of a mapping of any type. */
export function mergeMap(original: ValueMap, patch: ValueMap, type: FieldType): ValueMap {
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

/** Merges one field of a patch into `result`, which is the caller's copy. */
function mergeField(result: ValueMap, { key, value, type }: Change): void {
  const deletes = key.startsWith(DELETE_FROM);
  const name = deletes ? directiveTarget(key, DELETE_FROM) : key;
  const original = result[name];
  if (value === null) delete result[name];
  else if (original !== undefined && goTypeName(original) === goTypeName(value)) {
    result[name] = mergeSameType(original, { key: name, value, type }, deletes);
  } else if (!deletes) setField(result, name, value);
}

function setField(result: ValueMap, name: string, value: Value): void {
  const clean = withoutDirectives(value);
  if (clean === undefined) delete result[name];
  else result[name] = clean;
}

function mergeSameType(original: Value, { key, value, type }: Change, deletes: boolean): Value {
  if (isMap(original) && isMap(value)) return mergeMap(original, value, mapField(type, key));
  if (isList(original) && isList(value)) return mergeListField(original, value, listField(type, key), deletes);
  return value;
}

function mergeListField(original: Value[], patch: Value[], rule: ListRule, deletes: boolean): Value[] {
  return rule.merges || deletes ? mergeList(original, patch, rule, deletes) : patch;
}

/**
 * Applies `$setElementOrder/x` together with the patch's own `x`: the directive's order comes before that of the patch
 * and of the original. Takes both out of `changes`, as they are done.
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

/** PatchError unless the elements that the patch keeps are in the order of the directive, with nothing beside it. */
function checkElementOrder(patch: readonly Value[], order: readonly Value[], mergeKey: string): void {
  if (patch.length === 0 || order.length === 0) return;
  const named = patch.filter((item) => !(isMap(item) && item[PATCH] === "delete"));
  let next = 0;
  for (const item of order) {
    // Other directives are passed over, but only while the order has more to compare, as Kubernetes does.
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
