import { EXIT } from "../../core/errors.ts";
import { flag, type FlagGroups } from "../../core/command/mod.ts";
import type { World } from "../../core/world/world.ts";
import { VERSION } from "../../version.ts";
import { command, type Input } from "../command.ts";
import type { VersionInfo } from "./version_schema.ts";

const FLAGS = {
  "Output": {
    output: flag("-o, --output json|yaml", "Print the version as data"),
  },
} as const satisfies FlagGroups;

/** `kubectl mesh version`. */
export const VERSION_COMMAND = command({
  summary: "Print the version of this program",
  examples: [{ command: "kubectl mesh version" }, { command: "kubectl mesh version -o json" }],
  flags: FLAGS,
  run: (world, input) => Promise.resolve(printVersion(world, input)),
});

function printVersion(world: World, { flags: { output } }: Input<typeof FLAGS>): number {
  world.stdout.write(VIEWS[output ?? "text"]());
  return EXIT.ok;
}

const INFO: VersionInfo = { version: VERSION };

const VIEWS = {
  text: () => `kubectl-mesh ${VERSION}\n`,
  json: () => `${JSON.stringify(INFO)}\n`,
  yaml: () => `version: ${INFO.version}\n`,
};
