/** Explains a decision rule by rule. */
import type { Answer } from "./answer.ts";
import { type DecisionPolicy, type Reading, RULES } from "./decision.ts";
import type { Pod } from "../pod/pod.ts";

/** One rule of the decision, with a field that the rule reads. */
export interface DecisionStep extends Reading {
  /** Set only on the deciding rule. */
  readonly answer?: Answer;
  /** Whether an earlier rule has already decided. */
  readonly isLate: boolean;
}

/** Returns all rules in the order of `decide`. Marks the deciding rule. */
export function decisionSteps(pod: Pod, policy: DecisionPolicy): readonly DecisionStep[] {
  let isLate = false;
  return RULES.flatMap((rule) => {
    const answer = isLate ? undefined : rule.answer(pod, policy);
    const late = isLate;
    if (answer !== undefined) isLate = true;
    return rule.reads(pod, policy).map((reading) => step(reading, answer, late));
  });
}

/** A rule that reads several fields gives several steps. Only the step of the deciding field has the answer. */
function step(reading: Reading, answer: Answer | undefined, isLate: boolean): DecisionStep {
  const field = answer?.field ?? "";
  const decided = field === reading.field || field.startsWith(`${reading.field}[`);
  return answer !== undefined && decided ? { ...reading, field, answer, isLate } : { ...reading, isLate };
}
