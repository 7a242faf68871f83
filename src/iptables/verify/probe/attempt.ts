/** Attempts to prove a flow, until one says something or the time is over. */
import type { Address } from "../../../core/net.ts";
import { SystemError, type World } from "../../../core/world/mod.ts";
import type { Flow, FlowResult } from "../flow.ts";

/** The run of a proof. */
export interface Proof {
  readonly world: World;
  /** On the monotonic clock: when all has to be over. */
  readonly deadline: number;
  /** Whether packets from an address of this pod pass an interface that is not captured. */
  isExcluded(source: Address): boolean;
  /** Aborted when the run is to stop early. */
  readonly stop: AbortSignal;
}

/** How an attempt ended: `escaped` may be tried again, as rules may still be on their way. */
export type Attempt = Omit<FlowResult, "flow">;

/** A new attempt is made this often: the kernel decides on a connection once. */
const ATTEMPT_MILLISECONDS = 1000;
const POLL_MILLISECONDS = 2;

/** Makes attempts until one proves the flow, or nothing can be proved, or the time is over. */
export async function prove(
  proof: Proof,
  flow: Flow,
  attempt: (end: number) => Promise<Attempt>,
): Promise<FlowResult> {
  for (;;) {
    const end = Math.min(proof.deadline, proof.world.clock.monotonic() + ATTEMPT_MILLISECONDS);
    const result = await attemptOnce(attempt, end);
    if (result.outcome !== "escaped") return { flow, ...result };
    await pause(proof, end);
    if (isOver(proof)) return { flow, ...result };
  }
}

/** What the kernel refuses is not proved, and not disproved. */
async function attemptOnce(attempt: (end: number) => Promise<Attempt>, end: number): Promise<Attempt> {
  try {
    return await attempt(end);
  } catch (error) {
    if (!(error instanceof SystemError)) throw error;
    return { target: undefined, outcome: "not provable", reason: error.message };
  }
}

/** Asks until there is an answer; `undefined` when the time was over before. */
export async function until<T>(
  { world, stop }: Proof,
  end: number,
  ask: () => T | undefined | Promise<T | undefined>,
): Promise<T | undefined> {
  for (;;) {
    const answer = await ask();
    if (answer !== undefined || world.clock.monotonic() >= end || stop.aborted) return answer;
    await world.clock.sleep(POLL_MILLISECONDS, stop);
  }
}

async function pause({ world, stop }: Proof, end: number): Promise<void> {
  await world.clock.sleep(Math.max(0, end - world.clock.monotonic()), stop);
}

function isOver({ world, deadline, stop }: Proof): boolean {
  return stop.aborted || world.clock.monotonic() >= deadline;
}
