/** Views of a plan: `viewText` turns one into the text that was asked for. */
import type { Plan } from "../plan/rule.ts";
import type { OutputFormat } from "../settings/settings.ts";
import { commandsText, jsonText, tableText } from "./data.ts";
import { nftText } from "./nft.ts";
import { restoreText, type RuleTextOptions } from "./restore.ts";

/** The plan in a format; `restore` has both families, the second behind a line `# IPv6`. */
export function viewText(
  plan: Plan,
  format: OutputFormat,
  options: RuleTextOptions & { readonly nativeNftables?: boolean },
): string {
  switch (format) {
    case "restore":
      return plan.families.map((family) => `${family === 6 ? "# IPv6\n" : ""}${restoreText(plan, family, options)}`)
        .join("");
    case "nft":
      return nftText(plan, options);
    case "json":
      return jsonText(plan);
    case "commands":
      return commandsText(plan, options);
    case "table":
      return tableText(plan, options);
  }
}
