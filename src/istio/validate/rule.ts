import { type Value, valueAt, type ValueMap } from "../../base/value.ts";
import type { FieldProblem } from "../decode/decode.ts";

export interface Rule {
  /** The path of the field, such as `tracing.sampling`. */
  readonly path: string;
  /** Whether the rule also holds for an unset field, whose value is null. */
  readonly isRequired?: boolean;
  /** Returns why a value is invalid; `undefined` for a valid value. */
  readonly problem: (value: Value) => string | undefined;
}

/** Returns the fields of a message that break a rule. */
export function brokenRules(data: ValueMap, rules: readonly Rule[], prefix = ""): FieldProblem[] {
  return rules.flatMap(({ path, isRequired = false, problem }) => {
    const value = valueAt(data, ...path.split("."));
    const text = value === undefined && !isRequired ? undefined : problem(value ?? null);
    return text === undefined ? [] : [{ field: `${prefix}${path}`, text }];
  });
}
