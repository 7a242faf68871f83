import { type FailureKind, requestFailure } from "../core/request_failure.ts";
import type { World } from "../core/world/world.ts";

/** How far something is that is asked whether it is ready: an answer, or the lack of one. */
export type Stage = "ready" | "unready" | "other-status" | FailureKind;

/** One answer, or the lack of one. */
export interface Probe {
  readonly stage: Stage;
  /** What was seen: `connection refused`, `answered 503`. */
  readonly seen: string;
}

/** Asks a URL once. Ready is the final status 200 after redirects and nothing else, as pilot-agent has it. Never throws. */
export async function probe(world: World, url: string, limit: number): Promise<Probe> {
  try {
    const response = await world.network.request(url, { signal: AbortSignal.timeout(limit) });
    await response.body?.cancel();
    return answered(response.status);
  } catch (error) {
    return unanswered(error, limit);
  }
}

/** What a status means. */
export function answered(status: number): Probe {
  const seen = `answered ${status}`;
  if (status === 200) return { stage: "ready", seen };
  return { stage: status === 503 ? "unready" : "other-status", seen };
}

/** What an error means of a request that had so many milliseconds. */
export function unanswered(error: unknown, limit: number): Probe {
  const { kind, text } = requestFailure(error, limit);
  return { stage: kind, seen: text };
}
