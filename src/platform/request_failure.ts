/** Failures of requests without an answer. */
import { isRuntimeError, reasonOf, RUNTIME_ERRORS } from "./mod.ts";

/** The kinds that callers distinguish. */
export type FailureKind = "refused" | "unknown-name" | "silent" | "other";

/** A kind and its text: `connection refused`. */
export interface RequestFailure {
  readonly kind: FailureKind;
  readonly text: string;
}

/** Names of `fetch`'s error after its signal. */
const ENDED: readonly string[] = ["TimeoutError", "AbortError"];

/** Kinds of runtime errors. */
const KINDS: readonly (readonly [error: keyof typeof RUNTIME_ERRORS, kind: FailureKind])[] = [
  ["refused", "refused"],
  ["unknownName", "unknown-name"],
];

const LONGEST = 300;

/** Classifies an error of `network.request`, whose signal fires after `milliseconds`. */
export function requestFailure(error: unknown, milliseconds: number): RequestFailure {
  if (error instanceof Error && ENDED.includes(error.name)) {
    return { kind: "silent", text: `no answer within ${milliseconds}ms` };
  }
  for (const [name, kind] of KINDS) {
    if (isRuntimeError(error, name)) return { kind, text: RUNTIME_ERRORS[name].meaning };
  }
  return { kind: "other", text: reasonOf(error).slice(0, LONGEST) };
}
