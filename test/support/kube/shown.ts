/** Formats a finding as it is printed: its message, with the lines of its fixes below. */
import type { Finding } from "../../../src/check/check.ts";
import type { Fix } from "../../../src/check/advice/advice.ts";
import { decidedFixes } from "../../../src/check/advice/decide.ts";
import { fixLines } from "../../../src/check/advice/text.ts";

/** Returns the text of a finding for a user whose rights are unknown. */
export async function shownText({ message = "", fixes = [] }: Pick<Finding, "message" | "fixes">): Promise<string> {
  return [message, ...await fixTexts(fixes)].join("\n");
}

async function fixTexts(fixes: readonly Fix[]): Promise<readonly string[]> {
  const decided = await decidedFixes(fixes, {
    istioNamespace: "istio-system",
    injectors: () => Promise.resolve({ value: [] }),
    may: () => Promise.resolve({ failed: "no cluster" }),
  });
  return fixLines(decided).map(({ text }) => text);
}
