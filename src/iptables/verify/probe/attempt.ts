/** Repeated attempts to prove a flow, until one succeeds or the time is up. */
import type { Address } from "../../../golang/net/mod.ts";
import { SystemError, type World } from "../../../platform/mod.ts";
import type { Flow, FlowResult } from "../flows.ts";

export interface Proof {
  readonly world: World;
  /** The end of all attempts, on the monotonic clock. */
  readonly deadline: number;
  /** Whether an address of this pod is on an interface that is not captured. */
  isExcluded(source: Address): boolean;
  /** Aborted when the run has to stop early. */
  readonly stop: AbortSignal;
}

/** The result of an attempt. `escaped` is tried again: the CNI plugin may still be adding rules. */
export type Attempt = Omit<FlowResult, "flow">;

/** Every attempt is a new connection: the kernel decides once per connection. */
const ATTEMPT_MILLISECONDS = 1000;
const POLL_MILLISECONDS = 2;

/** Makes attempts until one proves the flow, the kernel refuses one, or the time is up. */
export async function prove(
  proof: Proof,
  flow: Flow,
  attempt: (end: number) => Promise<Attempt>,
): Promise<FlowResult> {
  for (;;) {
    const end = Math.min(proof.deadline, proof.world.clock.monotonic() + ATTEMPT_MILLISECONDS);
    const result = await attemptOnce(attempt, end);
    if (result.outcome !== "escaped") return { flow, ...result };
    const { world: { clock }, deadline, stop } = proof;
    await clock.sleep(Math.max(0, end - clock.monotonic()), stop);
    if (stop.aborted || clock.monotonic() >= deadline) return { flow, ...result };
  }
}

/** The result of a flow that this process cannot send. */
export function notProvable(flow: Flow, reason: string): FlowResult {
  return { flow, target: flow.targets[0], outcome: "not provable", reason };
}

/** 32 random hexadecimal digits: what arrives with them was sent by this process. */
export function token(): string {
  return crypto.randomUUID().replaceAll("-", "");
}

/** Makes one attempt. An error of the kernel proves nothing. */
async function attemptOnce(attempt: (end: number) => Promise<Attempt>, end: number): Promise<Attempt> {
  try {
    return await attempt(end);
  } catch (error) {
    if (!(error instanceof SystemError)) throw error;
    return { target: undefined, outcome: "not provable", reason: error.message };
  }
}

/** Polls for a result; `undefined` when the time is up. */
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
