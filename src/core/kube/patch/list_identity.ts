import { goJson } from "../../gojson.ts";
import { isMap, type Value, type ValueMap } from "../../value.ts";

/**
 * Fields that identify a list element in Kubernetes' types: merge keys and keys of list maps. A list is keyed by the first
 * field that has a different value in every element.
 */
const KEYS = ["name", "containerPort", "mountPath", "devicePath", "ip", "uid", "topologyKey", "key", "port", "type"];

/** Ids of the elements of two lists: equal ids are the same element; an id occurs once in a list. */
interface Identities {
  /** The ids come from a field, so elements with the same id may differ. Else from the whole element. */
  readonly keyed: boolean;
  readonly from: readonly string[];
  readonly to: readonly string[];
}

/** Identifies the elements of a list before and after a change. */
export function identities(before: readonly Value[], after: readonly Value[]): Identities {
  if (before.every(isMap) && after.every(isMap)) {
    for (const key of KEYS) {
      const from = byField(before, key);
      const to = from === undefined ? undefined : byField(after, key);
      if (from !== undefined && to !== undefined) return { keyed: true, from, to };
    }
  }
  return { keyed: false, from: byText(before), to: byText(after) };
}

/** The field's values; `undefined` if an element has none or two have the same value. */
function byField(list: readonly ValueMap[], key: string): readonly string[] | undefined {
  const known = new Set<string>();
  for (const item of list) {
    const id = scalarId(item[key]);
    if (id === undefined || known.has(id)) return undefined;
    known.add(id);
  }
  return [...known];
}

/** The quote keeps the string "1" apart from the number 1. */
function scalarId(value: Value | undefined): string | undefined {
  if (typeof value === "string") return `"${value}`;
  return typeof value === "number" || typeof value === "bigint" ? String(value) : undefined;
}

/** The elements as JSON, equal ones numbered. */
function byText(list: readonly Value[]): readonly string[] {
  const counts = new Map<string, number>();
  return list.map((item) => {
    const text = goJson(item);
    const count = counts.get(text) ?? 0;
    counts.set(text, count + 1);
    return `${text}#${count}`;
  });
}
