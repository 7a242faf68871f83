import { goJson } from "../../gojson.ts";
import { isMap, type Value, type ValueMap } from "../../value.ts";

/**
 * Fields that identify an element of a list, as the types of Kubernetes have them (their merge keys and the keys of their
 * list maps). A list is keyed by the first of which every element has another value.
 */
const KEYS = ["name", "containerPort", "mountPath", "devicePath", "ip", "uid", "topologyKey", "key", "port", "type"];

/** What identifies the elements of two lists: equal texts are the same element; each occurs once in a list. */
export interface Identities {
  /** By a field: elements of the same identity may differ. Else by all that they are. */
  readonly keyed: boolean;
  readonly from: readonly string[];
  readonly to: readonly string[];
}

/** Identifies the elements of a list and of what became of it. */
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

/** The field's values; `undefined` if an element has none or two have the same. */
function byField(list: readonly ValueMap[], key: string): readonly string[] | undefined {
  const known = new Set<string>();
  for (const item of list) {
    const id = scalarId(item[key]);
    if (id === undefined || known.has(id)) return undefined;
    known.add(id);
  }
  return [...known];
}

/** A text is never the same as a number, whatever their letters. */
function scalarId(value: Value | undefined): string | undefined {
  if (typeof value === "string") return `"${value}`;
  return typeof value === "number" || typeof value === "bigint" ? String(value) : undefined;
}

/** The elements as JSON; of equal ones the second is another than the first. */
function byText(list: readonly Value[]): readonly string[] {
  const counts = new Map<string, number>();
  return list.map((item) => {
    const text = goJson(item);
    const count = counts.get(text) ?? 0;
    counts.set(text, count + 1);
    return `${text}#${count}`;
  });
}
