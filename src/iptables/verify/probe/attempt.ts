/** Repeats attempts to prove a flow, until one succeeds or the time is up. */
import type { Address } from "../../../golang/net/mod.ts";
import { SystemError, type World } from "../../../platform/mod.ts";
import type { Flow, FlowResult } from "../flows.ts";

export interface Proof {
  readonly world: World;
  /** The time limit for all attempts, on the monotonic clock. */
  readonly deadline: number;
  /** Whether an address of this pod is on an excluded interface. */
  isExcluded(source: Address): boolean;
  /** Aborts when the run must stop early. */
  readonly stop: AbortSignal;
}

/**
 * The result of an attempt. After `escaped`, another attempt follows, because the CNI plugin may still be adding rules.
 */
export type Attempt = Omit<FlowResult, "flow">;

/**
 * Time limit of an attempt. Each attempt opens a new connection, because the kernel applies NAT once per connection.
 */
const ATTEMPT_MILLISECONDS = 1000;
const POLL_MILLISECONDS = 2;

/** Makes attempts until one proves the flow, the time is up, or a kernel error makes the flow "not provable". */
export async function prove(
  proof: Proof,
  flow: Flow,
  attempt: (end: number) => Promise<Attempt>,
): Promise<FlowResult> {
  for (;;) {
    const end = Math.min(proof.deadline, proof.world.clock.monotonic() + ATTEMPT_MILLISECONDS);
    const result = await attempt(end).catch((error: unknown): Attempt => {
      if (!(error instanceof SystemError)) throw error;
      return { target: undefined, outcome: "not provable", reason: error.message };
    });
    if (result.outcome !== "escaped") return { flow, ...result };
    const { world: { clock }, deadline, stop } = proof;
    await clock.sleep(Math.max(0, end - clock.monotonic()), stop);
    if (stop.aborted || clock.monotonic() >= deadline) return { flow, ...result };
  }
}

/** Returns the result for a flow that this process cannot send. */
export function notProvable(flow: Flow, reason: string): FlowResult {
  return { flow, target: flow.targets[0], outcome: "not provable", reason };
}

/** Returns 32 random hexadecimal digits, which identify data that this process sent. */
export function token(): string {
  return crypto.randomUUID().replaceAll("-", "");
}

/** Polls for a result; returns `undefined` when the time is up. */
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
