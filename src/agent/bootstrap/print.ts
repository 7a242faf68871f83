/** `agent bootstrap`: prints Envoy's bootstrap. */
import { EXIT } from "../../base/errors.ts";
import type { World } from "../../platform/world.ts";
import { readSettings } from "../settings/read.ts";
import { bootstrapText } from "./write.ts";

/** Prints the bootstrap to stdout, and warnings to stderr. Throws UsageError or MeshError for invalid settings. */
export async function runAgentBootstrap(world: World, args: readonly string[]): Promise<number> {
  const settings = await readSettings(world, args, { name: "agent" });
  const warn = (text: string) => void world.stderr.write(`warning: ${text}\n`);
  settings.warnings.forEach(warn);
  const { customConfigFile } = settings.envoy;
  world.stdout.write(
    customConfigFile === "" ? await bootstrapText(world, settings, warn) : await world.files.readText(customConfigFile),
  );
  return EXIT.ok;
}
