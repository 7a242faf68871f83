/** Runs changes in order. After a failure, undoes them in reverse order. */
import { EXIT, MeshError, messageOf } from "../../base/errors.ts";
import { EEXIST, EPERM, SystemError, type World } from "../../platform/mod.ts";
import { RefusedRule, RulesetChanged } from "../kernel/netfilter/transaction.ts";
import { modulesHint, NET_ADMIN } from "./diagnosis.ts";

export interface Step {
  /** Shell commands with the same effect, for the log. */
  readonly what: readonly string[];
  run(): Promise<void> | void;
  /** Restores the state before the step. Also called for a failed step, which may be partly done. */
  undo(): Promise<void> | void;
  /** Set if this step puts the new rules in place. Later failures and signals no longer cause a rollback. */
  readonly isCommit?: true;
}

/** Runs the steps. After a failure or a signal, rolls back; the error reports the result of the rollback. */
export async function takeSteps(world: World, steps: readonly Step[]): Promise<void> {
  if (steps.length === 0) return;
  const signals: string[] = [];
  const names = ["SIGINT", "SIGTERM", "SIGHUP"] as const;
  const stops = names.map((name) => world.signals.on(name, () => signals.push(name)));
  const begun: Step[] = [];
  let isCommitted = false;
  try {
    for (const step of steps) {
      begun.push(step);
      await take(step);
      isCommitted ||= step.isCommit === true;
      if (signals.length > 0 && !isCommitted) {
        throw new MeshError(`Interrupted by ${signals[0]}`, { exitCode: EXIT.interrupted });
      }
    }
  } catch (error) {
    if (isCommitted) {
      throw explained(error, "the new rules are in place; run it again to remove the remaining old rules");
    }
    const failures = await rollBack(begun);
    throw explained(
      error,
      failures.length === 0 ? "all changes were rolled back" : `the rollback is incomplete: ${failures.join("; ")}`,
    );
  } finally {
    stops.forEach((stop) => stop());
  }
}

async function take(step: Step): Promise<void> {
  try {
    await step.run();
  } catch (error) {
    if (error instanceof RulesetChanged) throw new MeshError(error.message, { cause: error, hint: "Run it again" });
    if (!(error instanceof SystemError)) throw error;
    const message = error instanceof RefusedRule ? error.message : `"${step.what.join(" ")}" failed: ${error.message}`;
    throw new MeshError(message, { cause: error, ...hintFor(error) });
  }
}

function hintFor(error: SystemError): { readonly hint?: string } {
  const { errno } = error;
  if (errno === EPERM) return { hint: NET_ADMIN };
  if (error instanceof RefusedRule) return { hint: modulesHint(error.rule) };
  return errno === EEXIST ? { hint: "Another program uses this routing table: choose another table with -r" } : {};
}

async function rollBack(begun: readonly Step[]): Promise<string[]> {
  const failures: string[] = [];
  for (const step of begun.toReversed()) {
    try {
      await step.undo();
    } catch (error) {
      failures.push(`${step.what[0]?.split("\n")[0]}: ${messageOf(error)}`);
    }
  }
  return failures;
}

function explained(error: unknown, outcome: string): MeshError {
  const details = error instanceof MeshError ? { exitCode: error.exitCode, hint: error.hint } : {};
  return new MeshError(`${messageOf(error)}; ${outcome}`, { cause: error, ...details });
}
