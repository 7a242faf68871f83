import { errorLine, MeshError, messageOf } from "../base/errors.ts";
import { ApiError } from "../kube/client/mod.ts";
import type { Check, Finding } from "./check.ts";
import { NotKnown, overFacts } from "./facts.ts";
import { type Inventory, reason } from "./inventory/mod.ts";

/**
 * Runs a check and returns its finding. Never throws.
 *
 * | the check                                                                            | result    |
 * |--------------------------------------------------------------------------------------|-----------|
 * | returns a finding                                                                    | unchanged |
 * | needs a value that the user may not read, or whose object is broken                  | `unknown` |
 * | needs a value, and its request fails: an unreachable cluster must not pass           | `error`   |
 * | throws an error                                                                      | `error`   |
 */
export async function judge({ run }: Pick<Check, "run">, inventory: Inventory): Promise<Finding> {
  try {
    const answer = await overFacts(inventory, run);
    return answer instanceof NotKnown ? findingFor(answer) : answer.value;
  } catch (error) {
    if (error instanceof ApiError && error.status === 403) {
      const missingRight = errorLine(error);
      return { result: "unknown", message: `cannot tell: ${missingRight}`, missingRight };
    }
    if (error instanceof MeshError) return { result: "error", message: errorLine(error) };
    return { result: "error", message: `The check has a bug: ${messageOf(error)}; please report this message` };
  }
}

function findingFor({ why, of }: NotKnown): Finding {
  const about = of === "" ? "" : ` for ${of}`;
  return {
    result: "failed" in why ? "error" : "unknown",
    message: `cannot tell${about}: ${reason(why)}`,
    ...("forbidden" in why ? { missingRight: why.forbidden } : {}),
  };
}
