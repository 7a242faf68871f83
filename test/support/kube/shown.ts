/** A finding as it is printed: its message, and below it the lines of its fixes. */
import type { Finding } from "../../../src/check/check.ts";
import type { Fix } from "../../../src/check/advice/advice.ts";
import { decidedFixes } from "../../../src/check/advice/decide.ts";
import { fixLines } from "../../../src/check/advice/text.ts";

/** The text of a finding; rights are not known. */
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
