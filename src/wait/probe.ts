import { messageOf } from "../core/errors.ts";
import type { World } from "../core/world/world.ts";

/** How far something is that is asked whether it is ready. */
export type Stage = "ready" | "refused" | "unknown-name" | "silent" | "unready" | "failed";

/** One answer, or the lack of one. */
export interface Probe {
  readonly stage: Stage;
  /** What was seen: `connection refused`, `answered 503`. */
  readonly seen: string;
}

/** Asks a URL once. Ready is the final status 200 after redirects and nothing else, as pilot-agent has it. Never throws. */
export async function probe(world: World, url: string, timeout: number): Promise<Probe> {
  try {
    const response = await world.network.request(url, { signal: AbortSignal.timeout(timeout) });
    await response.body?.cancel();
    return answered(response.status);
  } catch (error) {
    return unanswered(error, timeout);
  }
}

/** What a status means. */
export function answered(status: number): Probe {
  const seen = `answered ${status}`;
  if (status === 200) return { stage: "ready", seen };
  return { stage: status === 503 ? "unready" : "failed", seen };
}

/** Names of `fetch`'s error when its signal fired. */
const ENDED: readonly string[] = ["TimeoutError", "AbortError"];

/** What the runtime says of a request that came to nothing; the code of the error does not tell. */
const FAILURES: readonly (readonly [pattern: RegExp, stage: Stage, seen: string])[] = [
  [/connection refused/i, "refused", "connection refused"],
  [
    /dns error|lookup address|name or service not known|no such host/i,
    "unknown-name",
    "the name of the host is not known",
  ],
];

/** What the lack of an answer means. */
export function unanswered(error: unknown, timeout: number): Probe {
  if (error instanceof Error && ENDED.includes(error.name)) {
    return { stage: "silent", seen: `no answer within ${timeout}ms` };
  }
  const text = messageOf(error);
  const [, stage, seen] = FAILURES.find(([pattern]) => pattern.test(text)) ?? [];
  if (stage !== undefined && seen !== undefined) return { stage, seen };
  return { stage: "failed", seen: shortened(text) };
}

/** `error sending request for url (URL): client error (Connect): what happened (os error 1)` is what happened. */
function shortened(text: string): string {
  const told = text.replace(/^error sending request(?: from \S+)? for url \(.*?\)(?: \(.*?\))?: /, "")
    .replace(/^client error \(\w+\): /, "").replace(/ \(os error \d+\)/, "");
  return told.slice(0, 300);
}
