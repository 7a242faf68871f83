import { isMap, type Value, type ValueMap } from "../value.ts";

/**
 * Fields that identify an element of a list in Kubernetes' types: merge keys and keys of list maps. The first field
 * that has a different value in every element identifies the elements.
 */
const KEYS = ["name", "containerPort", "mountPath", "devicePath", "ip", "uid", "topologyKey", "key", "port", "type"];

/**
 * IDs of a list's elements before and after a change. Elements with equal IDs are the same; an ID is unique within a
 * list.
 */
export interface Identities {
  readonly from: readonly string[];
  readonly to: readonly string[];
}

/** Returns IDs by a field that identifies the elements of both lists; `undefined` if there is no such field. */
export function identitiesByField(before: readonly Value[], after: readonly Value[]): Identities | undefined {
  if (!before.every(isMap) || !after.every(isMap)) return undefined;
  for (const key of KEYS) {
    const from = byField(before, key);
    const to = from === undefined ? undefined : byField(after, key);
    if (from !== undefined && to !== undefined) return { from, to };
  }
  return undefined;
}

/** Returns the field's values; `undefined` if an element lacks the field, or two elements have the same value. */
function byField(list: readonly ValueMap[], key: string): readonly string[] | undefined {
  const known = new Set<string>();
  for (const item of list) {
    const id = scalarId(item[key]);
    if (id === undefined || known.has(id)) return undefined;
    known.add(id);
  }
  return [...known];
}

/** Returns the ID of a scalar. Quotes distinguish the string "1" from the number 1. */
function scalarId(value: Value | undefined): string | undefined {
  if (typeof value === "string") return `"${value}`;
  return typeof value === "number" || typeof value === "bigint" ? String(value) : undefined;
}
