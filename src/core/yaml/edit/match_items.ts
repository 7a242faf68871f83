import { longestAscending } from "../../longest_ascending.ts";
import { sameValue } from "../../same_value.ts";
import { isMap, type Value } from "../../value.ts";

/** Keys that identify items of Kubernetes' lists: the first that all items have, without duplicates, counts. */
const IDENTITY_KEYS = ["name", "mountPath", "containerPort", "ip", "topologyKey", "key", "uid"];

/**
 * For each new item of a list the index of its old item, or `undefined`; the indexes ascend. Items are matched by an
 * identity key. Without one, equal items are matched, and items between them by position.
 */
export function matchItems(old: readonly Value[], next: readonly Value[]): (number | undefined)[] {
  const key = IDENTITY_KEYS.find((name) => identifies(old, name) && identifies(next, name));
  if (key === undefined) return matchEqual(old, next);
  const places = new Map(old.map((item, index) => [isMap(item) ? item[key] : undefined, index]));
  const matches = next.map((item) => places.get(isMap(item) ? item[key] : undefined));
  // Items that moved are written anew.
  const kept = longestAscending(matches);
  return matches.map((match, index) => kept.has(index) ? match : undefined);
}

function identifies(items: readonly Value[], key: string): boolean {
  const seen = new Set<Value>();
  for (const item of items) {
    const id = isMap(item) ? item[key] : undefined;
    if (id === undefined || id === null || typeof id === "object" || seen.has(id)) return false;
    seen.add(id);
  }
  return true;
}

/** Matches equal items in order, and the items between them by position. */
function matchEqual(old: readonly Value[], next: readonly Value[]): (number | undefined)[] {
  const match: (number | undefined)[] = next.map(() => undefined);
  let from = 0;
  let oldFrom = 0;
  for (let at = 0; at < next.length; at++) {
    const same = old.findIndex((item, index) => index >= oldFrom && sameValue(item, next[at] ?? null));
    if (same < 0 || same - oldFrom > next.length + old.length - at) continue;
    match[at] = same;
    pairByPosition(match, { from, to: at, oldFrom, oldTo: same });
    from = at + 1;
    oldFrom = same + 1;
  }
  pairByPosition(match, { from, to: next.length, oldFrom, oldTo: old.length });
  return match;
}

function pairByPosition(
  match: (number | undefined)[],
  gap: { from: number; to: number; oldFrom: number; oldTo: number },
) {
  const pairs = Math.min(gap.to - gap.from, gap.oldTo - gap.oldFrom);
  for (let index = 0; index < pairs; index++) match[gap.from + index] = gap.oldFrom + index;
}
