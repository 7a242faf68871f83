/** `agent bootstrap`: prints Envoy's bootstrap. */
import { EXIT } from "../../base/errors.ts";
import type { World } from "../../platform/world.ts";
import type { ProgramName } from "../settings/command_line.ts";
import { readSettings } from "../settings/read.ts";
import { bootstrapText } from "./write.ts";

/**
 * Prints the bootstrap to stdout, warnings to stderr; writes no file. Errors: UsageError or MeshError for invalid
 * settings.
 */
export async function runAgentBootstrap(
  world: World,
  args: readonly string[],
  name: ProgramName = "agent",
): Promise<number> {
  const settings = await readSettings(world, args, { name });
  const warn = (text: string) => void world.stderr.write(`warning: ${text}\n`);
  settings.warnings.forEach(warn);
  const { customConfigFile } = settings.envoy;
  world.stdout.write(
    customConfigFile === "" ? await bootstrapText(world, settings, warn) : await world.files.readText(customConfigFile),
  );
  return EXIT.ok;
}
