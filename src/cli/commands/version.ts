import { Command } from "@commander-js/extra-typings";
import { VERSION } from "../../version.ts";
import type { Session } from "../session.ts";

/** What this is, on one line. */
export function versionText(): string {
  return `kubectl-mesh ${VERSION}`;
}

/** `version`: what this is. */
export function versionCommand({ world }: Session) {
  return new Command("version")
    .summary("print the version")
    .description("Print the version of this program.")
    .action(() => world.stdout.write(`${versionText()}\n`));
}
