/** The bootstrap as a file, and whose file Envoy is given. */
import { posix } from "node:path";
import { MeshError } from "../../core/errors.ts";
import type { World } from "../../core/world/world.ts";
import type { AgentSettings } from "../settings/settings.ts";
import { buildBootstrap } from "./bootstrap.ts";
import { lightstepTokenFile, tracerOf } from "./tracing.ts";

/** The tokens and addresses in it are for Envoy alone. */
const MODE = 0o600;

/** The file that Envoy is started with (`-c`): Envoy tells YAML from JSON by its name. */
export function configFile({ envoy }: AgentSettings): string {
  if (envoy.customConfigFile !== "") return envoy.customConfigFile;
  const isYaml = /\.yaml(\.tmpl)?$/.test(envoy.templateFile);
  return posix.join(envoy.configPath, `envoy-rev.${isYaml ? "yaml" : "json"}`);
}

/** The text of the bootstrap: the built-in one, or what the user's template gives. Errors: MeshError of the template. */
export async function bootstrapText(world: World, settings: AgentSettings): Promise<string> {
  if (settings.envoy.templateFile === "") return `${JSON.stringify(buildBootstrap(settings), null, 2)}\n`;
  const { renderBootstrap } = await import("./template.ts");
  return await renderBootstrap(world, settings);
}

/**
 * Writes the bootstrap, whole or not at all, and gives the path for Envoy. A custom configuration file is used as it is and
 * nothing is written. Errors: MeshError that names the file.
 */
export async function writeBootstrap(world: World, settings: AgentSettings): Promise<string> {
  const file = configFile(settings);
  if (settings.envoy.customConfigFile !== "") {
    if (await world.files.facts(file) !== undefined) return file;
    throw new MeshError(`The custom configuration file "${file}" is not there`);
  }
  const text = await bootstrapText(world, settings);
  await world.files.makeFolder(settings.envoy.configPath);
  const token = tracerOf(settings)?.accessToken ?? "";
  if (token !== "") world.files.writeText(lightstepTokenFile(settings), token, MODE);
  world.files.writeText(file, text, MODE);
  return file;
}

/** Removes what `writeBootstrap` wrote, when Envoy has ended. */
export async function removeBootstrap(world: World, settings: AgentSettings): Promise<void> {
  if (settings.envoy.customConfigFile === "") await world.files.remove(configFile(settings));
}
