import { errorLine, MeshError, messageOf } from "../base/errors.ts";
import { ApiError } from "../kube/client/mod.ts";
import type { Check, Finding } from "./check.ts";
import { type CannotTell, overFacts } from "./facts.ts";
import { type Inventory, reason } from "./inventory/mod.ts";

/**
 * The finding of a check. Never throws.
 *
 * | the check                                                                            | result    |
 * |--------------------------------------------------------------------------------------|-----------|
 * | ends by itself                                                                       | its own   |
 * | needs a value that it has no right to read, or whose object is broken                | `unknown` |
 * | needs a value for which the server fails: else an unreachable cluster would pass     | `error`   |
 * | throws an error                                                                      | `error`   |
 */
export async function judge({ run }: Pick<Check, "run">, inventory: Inventory): Promise<Finding> {
  try {
    const answer = await overFacts(inventory, run);
    return "value" in answer ? answer.value : findingFor(answer);
  } catch (error) {
    if (error instanceof ApiError && error.status === 403) {
      const missingRight = errorLine(error);
      return { result: "unknown", message: `cannot tell: ${missingRight}`, missingRight };
    }
    if (error instanceof MeshError) return { result: "error", message: errorLine(error) };
    return {
      result: "error",
      message: `This check failed because of a bug in it: ${messageOf(error)}; please report it`,
    };
  }
}

function findingFor({ why, of }: CannotTell): Finding {
  const about = of === "" ? "" : ` for ${of}`;
  return {
    result: "failed" in why ? "error" : "unknown",
    message: `cannot tell${about}: ${reason(why)}`,
    ...("forbidden" in why ? { missingRight: why.forbidden } : {}),
  };
}
