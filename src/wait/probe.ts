import { type FailureKind, requestFailure } from "../platform/request_failure.ts";
import type { World } from "../platform/world.ts";

export type Stage = "ready" | "unready" | "other-status" | FailureKind;

export interface Probe {
  readonly stage: Stage;
  /** The result for messages: `connection refused`, `answered 503`. */
  readonly seen: string;
}

/** Sends a request. Ready means status 200, after redirects, as in pilot-agent. Never throws. */
export async function probe(world: World, url: string, limit: number): Promise<Probe> {
  try {
    const response = await world.network.request(url, { signal: AbortSignal.timeout(limit) });
    await response.body?.cancel();
    return answered(response.status);
  } catch (error) {
    return unanswered(error, limit);
  }
}

/** Returns the result for an HTTP status. */
export function answered(status: number): Probe {
  const seen = `answered ${status}`;
  if (status === 200) return { stage: "ready", seen };
  return { stage: status === 503 ? "unready" : "other-status", seen };
}

/** Returns the result for a request without a response. `limit` is in milliseconds. */
export function unanswered(error: unknown, limit: number): Probe {
  const { kind, text } = requestFailure(error, limit);
  return { stage: kind, seen: text };
}
