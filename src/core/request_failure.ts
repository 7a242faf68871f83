/** What became of a request that got no answer. */
import { isRuntimeError, reasonOf, RUNTIME_ERRORS } from "./world/mod.ts";

/** Kinds that callers tell apart; `other` is the rest. */
export type FailureKind = "refused" | "unknown-name" | "silent" | "other";

/** A kind, and words for it: `connection refused`. */
export interface RequestFailure {
  readonly kind: FailureKind;
  readonly text: string;
}

/** Names of `fetch`'s error when its signal fired. */
const ENDED: readonly string[] = ["TimeoutError", "AbortError"];

/** Errors of the runtime that have a kind. */
const KINDS: readonly (readonly [error: keyof typeof RUNTIME_ERRORS, kind: FailureKind])[] = [
  ["refused", "refused"],
  ["unknownName", "unknown-name"],
];

const LONGEST = 300;

/** Reads an error of `network.request`, of which the signal fired after so many milliseconds. */
export function requestFailure(error: unknown, milliseconds: number): RequestFailure {
  if (error instanceof Error && ENDED.includes(error.name)) {
    return { kind: "silent", text: `no answer within ${milliseconds}ms` };
  }
  for (const [name, kind] of KINDS) {
    if (isRuntimeError(error, name)) return { kind, text: RUNTIME_ERRORS[name].meaning };
  }
  return { kind: "other", text: reasonOf(error).slice(0, LONGEST) };
}
