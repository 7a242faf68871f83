/** Classification of requests that failed without a response. */
import { formatDuration } from "../golang/duration.ts";
import { isRuntimeError, reasonOf, RUNTIME_ERRORS } from "./mod.ts";

/** Kinds of failures. `silent` means a timeout. */
export type FailureKind = "refused" | "unknown-name" | "silent" | "other";

/** The kind of a failure, and its text for users, such as `connection refused`. */
export interface RequestFailure {
  readonly kind: FailureKind;
  readonly text: string;
}

/** Names of the errors of `fetch` after its signal fired. */
const ENDED: readonly string[] = ["TimeoutError", "AbortError"];

/** Runtime errors that have a failure kind of their own. */
const KINDS: readonly (readonly [error: keyof typeof RUNTIME_ERRORS, kind: FailureKind])[] = [
  ["refused", "refused"],
  ["unknownName", "unknown-name"],
];

const LONGEST = 300;

/** Classifies an error from `network.request`. `milliseconds` is the timeout of the request. */
export function requestFailure(error: unknown, milliseconds: number): RequestFailure {
  if (error instanceof Error && ENDED.includes(error.name)) {
    return {
      kind: "silent",
      text: `no answer within ${formatDuration(BigInt(Math.round(milliseconds)) * 1_000_000n)}`,
    };
  }
  for (const [name, kind] of KINDS) {
    if (isRuntimeError(error, name)) return { kind, text: RUNTIME_ERRORS[name].meaning };
  }
  return { kind: "other", text: reasonOf(error).slice(0, LONGEST) };
}
