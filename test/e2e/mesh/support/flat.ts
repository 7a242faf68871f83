/** Whether a measured value stays flat over a long run. */

/** The values of one process, from the start to the end of a run. */
export interface Series {
  /** `agent a: memory, MB`. */
  readonly name: string;
  readonly values: readonly number[];
  /** Growth that is tolerated: a share of the value, and an absolute amount. */
  readonly slack: { readonly part: number; readonly amount: number };
}

/** A series in numbers: medians of the second and of the last quarter. The first quarter is the start of the process. */
export interface Verdict {
  readonly name: string;
  readonly early: number;
  readonly late: number;
  readonly most: number;
  readonly isFlat: boolean;
}

/** Compares the last quarter of the values with the second one. Throws if there are fewer than eight values. */
export function verdictOf({ name, values, slack }: Series): Verdict {
  if (values.length < 8) throw new Error(`"${name}" has ${values.length} values: eight are needed`);
  const quarter = Math.floor(values.length / 4);
  const early = median(values.slice(quarter, 2 * quarter));
  const late = median(values.slice(-quarter));
  return { name, early, late, most: Math.max(...values), isFlat: late <= early * (1 + slack.part) + slack.amount };
}

function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? NaN;
}
