import { identitiesByField, longestAscending, sameValue, valueHash } from "../../base/values/mod.ts";
import type { Value } from "../../base/value.ts";

/** For each new item of a list, the index of its old item, or `undefined` for an added item. */
export interface Match {
  /** The items that stay in place, so their indexes ascend. */
  readonly kept: readonly (number | undefined)[];
  /** The items that move to another position. */
  readonly moved: readonly (number | undefined)[];
}

/**
 * Matches items by a field that identifies them. If there is no such field, matches equal items, and then matches the
 * items between equal items by position.
 */
export function matchItems(old: readonly Value[], next: readonly Value[]): Match {
  const keyed = identitiesByField(old, next);
  if (keyed === undefined) return { kept: matchEqual(old, next), moved: [] };
  const places = new Map(keyed.from.map((id, index) => [id, index]));
  const matches = keyed.to.map((id) => places.get(id));
  const inPlace = longestAscending(matches);
  const only = (isKept: boolean) => matches.map((match, index) => inPlace.has(index) === isKept ? match : undefined);
  return { kept: only(true), moved: only(false) };
}

/** Matches equal items in order, and the items between them by position. */
function matchEqual(old: readonly Value[], next: readonly Value[]): (number | undefined)[] {
  const match: (number | undefined)[] = next.map(() => undefined);
  // A linear search for each item would take quadratic time. The indexes descend, so that `pop` removes the lowest.
  const byHash = Map.groupBy([...old.keys()].reverse(), (index) => valueHash(old[index] ?? null));
  let from = 0;
  let oldFrom = 0;
  const pairByPosition = (to: number, oldTo: number) => {
    while (from < to && oldFrom < oldTo) match[from++] = oldFrom++;
  };
  for (const [at, value] of next.entries()) {
    const indexes = byHash.get(valueHash(value)) ?? [];
    while ((indexes.at(-1) ?? oldFrom) < oldFrom) indexes.pop();
    const same = indexes.findLast((index) => sameValue(old[index] ?? null, value));
    if (same === undefined) continue;
    pairByPosition(at, same);
    match[at] = same;
    from = at + 1;
    oldFrom = same + 1;
  }
  pairByPosition(next.length, old.length);
  return match;
}
