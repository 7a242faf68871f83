/** What became of a request that got no answer. */
import { messageOf } from "./errors.ts";

/** Kinds that callers tell apart; `other` is the rest. */
export type FailureKind = "refused" | "unknown-name" | "silent" | "other";

/** A kind, and words for it: `connection refused`. */
export interface RequestFailure {
  readonly kind: FailureKind;
  readonly text: string;
}

/** Names of `fetch`'s error when its signal fired. */
const ENDED: readonly string[] = ["TimeoutError", "AbortError"];

/** What the runtime says; its errors have neither code nor class of their own. */
const KINDS: readonly (readonly [pattern: RegExp, failure: RequestFailure])[] = [
  [/connection refused/i, { kind: "refused", text: "connection refused" }],
  [/dns error|lookup address|name or service not known|no such host/i, {
    kind: "unknown-name",
    text: "the name of the host is not known",
  }],
];

const LONGEST = 300;

/** Reads an error of `network.request`, of which the signal fired after so many milliseconds. */
export function requestFailure(error: unknown, milliseconds: number): RequestFailure {
  if (error instanceof Error && ENDED.includes(error.name)) {
    return { kind: "silent", text: `no answer within ${milliseconds}ms` };
  }
  const text = messageOf(error);
  return KINDS.find(([pattern]) => pattern.test(text))?.[1] ?? { kind: "other", text: shortened(text) };
}

/** `error sending request for url (URL): client error (Connect): what happened (os error 1)` is what happened. */
function shortened(text: string): string {
  return text.replace(/^error sending request (?:from \S+ )?for (?:url )?\S+( \(\S+\))?: /, "")
    .replace(/^client error \(\w+\): /, "").replace(/ \(os error \d+\)/, "").slice(0, LONGEST);
}
