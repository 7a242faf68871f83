import { identitiesByField } from "../../list_identity.ts";
import { longestAscending } from "../../longest_ascending.ts";
import { sameValue } from "../../same_value.ts";
import type { Value } from "../../value.ts";

/**
 * For each new item of a list the index of its old item, or `undefined`; the indexes ascend. Items are matched by a
 * field that identifies them. Without one, equal items are matched, and items between them by position.
 */
export function matchItems(old: readonly Value[], next: readonly Value[]): (number | undefined)[] {
  const keyed = identitiesByField(old, next);
  if (keyed === undefined) return matchEqual(old, next);
  const places = new Map(keyed.from.map((id, index) => [id, index]));
  const matches = keyed.to.map((id) => places.get(id));
  // Items that moved are written anew.
  const kept = longestAscending(matches);
  return matches.map((match, index) => kept.has(index) ? match : undefined);
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
