import { identitiesByField, longestAscending, sameValue, valueHash } from "../../base/values/mod.ts";
import type { Value } from "../../base/value.ts";

/** For each new item of a list, the index of its old item, or `undefined` for an added item. */
export interface Match {
  /** The items that stay in place, so their indexes ascend. */
  readonly kept: readonly (number | undefined)[];
  /** The items that move to another place. */
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
  const places = new Places(old);
  let from = 0;
  let oldFrom = 0;
  for (const [at, value] of next.entries()) {
    const same = places.next(value, oldFrom);
    if (same === undefined) continue;
    match[at] = same;
    pairByPosition(match, { from, to: at, oldFrom, oldTo: same });
    from = at + 1;
    oldFrom = same + 1;
  }
  pairByPosition(match, { from, to: next.length, oldFrom, oldTo: old.length });
  return match;
}

/** An index of a list's values, because a linear search for each item would take quadratic time. */
class Places {
  /** The indexes of the items with a hash, descending. */
  readonly #byHash = new Map<number, number[]>();

  constructor(readonly list: readonly Value[]) {
    for (let index = list.length - 1; index >= 0; index--) {
      const hash = valueHash(list[index] ?? null);
      const known = this.#byHash.get(hash);
      if (known === undefined) this.#byHash.set(hash, [index]);
      else known.push(index);
    }
  }

  /** The first index, at least `from`, of an equal item. `from` must not decrease from call to call. */
  next(value: Value, from: number): number | undefined {
    const indexes = this.#byHash.get(valueHash(value)) ?? [];
    while ((indexes.at(-1) ?? from) < from) indexes.pop();
    return indexes.findLast((index) => sameValue(this.list[index] ?? null, value));
  }
}

function pairByPosition(
  match: (number | undefined)[],
  gap: { from: number; to: number; oldFrom: number; oldTo: number },
) {
  const pairs = Math.min(gap.to - gap.from, gap.oldTo - gap.oldFrom);
  for (let index = 0; index < pairs; index++) match[gap.from + index] = gap.oldFrom + index;
}
