/** The decision about a pod, and its reason. */
export interface Decision {
  readonly inject: boolean;
  /** A stable ID. `decision.ts` lists the IDs. */
  readonly reason: string;
  /** The deciding field of the pod (`spec.hostNetwork`) or of the configuration (`neverInjectSelector[0]`). */
  readonly field: string;
  /** The reason in words. It is printed after `skipped: ` or `injected: `. */
  readonly message: string;
  readonly warnings: readonly string[];
}

/** The decision of one rule, without warnings. */
export type Answer = Omit<Decision, "warnings">;

/** Builds the decision not to inject. */
export function no(reason: string, field: string, message: string): Answer {
  return { inject: false, reason, field, message };
}
