/** A decision explained rule by rule. */
import type { Answer } from "./answer.ts";
import { type DecisionPolicy, type Reading, RULES } from "./decision.ts";
import type { Pod } from "../pod/pod.ts";

/** A rule, and a value that it reads. */
export interface DecisionStep extends Reading {
  /** The answer of the deciding rule. */
  readonly answer?: Answer;
  /** An earlier rule decides. */
  readonly isLate: boolean;
}

/** All rules in the order of `decide`, with the deciding one. */
export function decisionSteps(pod: Pod, policy: DecisionPolicy): readonly DecisionStep[] {
  let isLate = false;
  return RULES.flatMap((rule) => {
    const answer = isLate ? undefined : rule.answer(pod, policy);
    const late = isLate;
    if (answer !== undefined) isLate = true;
    return rule.reads(pod, policy).map((reading) => step(reading, answer, late));
  });
}

/** A rule that reads several fields has its answer at the deciding field. */
function step(reading: Reading, answer: Answer | undefined, isLate: boolean): DecisionStep {
  const field = answer?.field ?? "";
  const decided = field === reading.field || field.startsWith(`${reading.field}[`);
  return answer !== undefined && decided ? { ...reading, field, answer, isLate } : { ...reading, isLate };
}
