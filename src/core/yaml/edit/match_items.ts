import { isMap, type Value } from "../../value.ts";
import { sameValue } from "../../same_value.ts";

/** Keys that tell the items of Kubernetes' lists apart, the first that all items have without doubles counts. */
const IDENTITY_KEYS = ["name", "mountPath", "containerPort", "ip", "topologyKey", "key", "uid"];

/**
 * For each new item of a list the index of the old item that it continues, or `undefined`; the indices ascend. Items are
 * matched by `key` or a usual identity, else by equality, and what is left between equal ones by position.
 */
export function matchItems(old: readonly Value[], next: readonly Value[], key?: string): (number | undefined)[] {
  const identity = (key === undefined ? IDENTITY_KEYS : [key]).find((name) =>
    identifies(old, name) && identifies(next, name)
  );
  return identity === undefined ? matchEqual(old, next) : ascending(matchKeyed(old, next, identity));
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

function matchKeyed(old: readonly Value[], next: readonly Value[], key: string): (number | undefined)[] {
  const places = new Map(old.map((item, index) => [isMap(item) ? item[key] : undefined, index]));
  return next.map((item) => places.get(isMap(item) ? item[key] : undefined));
}

/** Keeps a longest ascending run of indices: what changed its order is written anew. */
function ascending(indices: readonly (number | undefined)[]): (number | undefined)[] {
  const best: { length: number; before: number }[] = [];
  let last = -1;
  indices.forEach((index, at) => {
    best[at] = longestBefore(indices, best, at);
    if (index !== undefined && (best[at]?.length ?? 0) > (best[last]?.length ?? 0)) last = at;
  });
  const kept: (number | undefined)[] = indices.map(() => undefined);
  for (let at = last; at >= 0; at = best[at]?.before ?? -1) kept[at] = indices[at];
  return kept;
}

function longestBefore(indices: readonly (number | undefined)[], best: readonly { length: number }[], at: number) {
  const index = indices[at];
  let found = { length: index === undefined ? 0 : 1, before: -1 };
  for (let before = 0; before < at; before++) {
    const earlier = indices[before];
    const length = (best[before]?.length ?? 0) + 1;
    if (index !== undefined && earlier !== undefined && earlier < index && length > found.length) {
      found = { length, before };
    }
  }
  return found;
}

/** Equal items at both ends and, between them, a run of equal items; the rest is paired by position. */
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
