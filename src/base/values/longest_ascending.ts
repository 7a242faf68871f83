interface Link {
  readonly index: number;
  readonly value: number;
  readonly after: Link | undefined;
}

/**
 * Returns the indexes of a longest strictly ascending subsequence; among several, the one with the lowest indexes.
 * Skips `undefined` values. Needs O(n log n).
 */
export function longestAscending(values: readonly (number | undefined)[]): ReadonlySet<number> {
  /** `heads[n]` is the first link of the best subsequence with n + 1 values, among the values visited so far. */
  const heads: Link[] = [];
  for (let index = values.length - 1; index >= 0; index--) {
    const value = values[index];
    if (value === undefined) continue;
    const at = firstNotAbove(heads, value);
    heads[at] = { index, value, after: heads[at - 1] };
  }
  const found = new Set<number>();
  for (let link = heads.at(-1); link !== undefined; link = link.after) found.add(link.index);
  return found;
}

/** Returns the first position in `heads` with a value of at most `value`. The values in `heads` descend. */
function firstNotAbove(heads: readonly Link[], value: number): number {
  let low = 0;
  let high = heads.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((heads[middle]?.value ?? 0) > value) low = middle + 1;
    else high = middle;
  }
  return low;
}
