/** The termination message of a proxy's agent: the end of its log, or its last error. */
import { oneLine } from "../../../base/errors.ts";
import type { Ending } from "./proxies.ts";

/** Control characters: a terminal would execute them. */
// deno-lint-ignore no-control-regex -- these characters are removed
const CONTROL = /[\x00-\x08\x0b-\x1f\x7f-\x9f]/g;
const LONGEST = 300;

/** Exit codes with a meaning of their own: Linux (128 + signal) and istio-iptables. */
const CODES: Readonly<Record<number, string>> = {
  126: "the traffic is not captured: the CNI plugin did not run for this pod",
  134: "it aborted",
  137: "it was killed",
  139: "a segmentation fault",
  143: "it was told to end",
};

/** `ended with 1 (Error): Envoy exited`. */
export function endingText({ code, reason, message }: Ending): string {
  const meaning = CODES[code];
  const head = `ended with ${code}${reason === "" || reason === "Error" ? "" : ` (${reason})`}`;
  return [head, ...(meaning === undefined ? [] : [meaning]), ...reported(message)].join(": ");
}

/** The end of a message, where the cause is, as one printable line; empty without a message. */
export function reported(message: string): readonly string[] {
  const text = oneLine(message.slice(-4 * LONGEST).replaceAll(CONTROL, " "));
  if (text === "") return [];
  return [text.length > LONGEST ? `...${text.slice(-LONGEST)}` : text];
}
