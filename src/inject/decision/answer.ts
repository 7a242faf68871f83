/** The decision about a pod, and its reason. */
export interface Decision {
  readonly inject: boolean;
  /** A stable id, from the table in `decision.ts`. */
  readonly reason: string;
  /** The field that decides, of the pod (`spec.hostNetwork`) or of the configuration (`neverInjectSelector[0]`). */
  readonly field: string;
  /** The reason in words, after `skipped: ` or `injected: `. */
  readonly message: string;
  readonly warnings: readonly string[];
}

/** The answer of a rule. */
export type Answer = Omit<Decision, "warnings">;

/** The answer "do not inject". */
export function no(reason: string, field: string, message: string): Answer {
  return { inject: false, reason, field, message };
}
