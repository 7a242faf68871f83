/** What a proxy's agent left behind when it ended: the termination message, which is its log or its last error. */
import { oneLine } from "../../../core/errors.ts";
import type { Ending } from "./proxies.ts";

/** What a terminal would take for a command, and what is no text. */
// deno-lint-ignore no-control-regex -- those are the characters that are taken out
const CONTROL = /[\x00-\x08\x0b-\x1f\x7f-\x9f]/g;
const LONGEST = 300;

/** Exit codes that say more than that something failed: of Linux (128 + signal), and of istio-iptables. */
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

/** The end of a message, where the cause is, in one line that is safe to show; none if there is no message. */
export function reported(message: string): readonly string[] {
  const text = oneLine(message.slice(-4 * LONGEST).replaceAll(CONTROL, " "));
  if (text === "") return [];
  return [text.length > LONGEST ? `...${text.slice(-LONGEST)}` : text];
}
