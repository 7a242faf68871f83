/** The bootstrap as a file, and whose file Envoy is given. */
import { posix } from "node:path";
import { errorLine, MeshError } from "../../core/errors.ts";
import type { World } from "../../core/world/world.ts";
import type { AgentSettings } from "../settings/settings.ts";
import { buildBootstrap } from "./bootstrap.ts";
import { istioText } from "./istio_text/istio_text.ts";
import { lightstepTokenFile, tracerOf } from "./parts/tracing.ts";

/** The tokens and addresses in it are for Envoy alone. */
const MODE = 0o600;

/** The file that Envoy is started with (`-c`): Envoy tells YAML from JSON by its name. */
export function configFile({ envoy }: AgentSettings): string {
  if (envoy.customConfigFile !== "") return envoy.customConfigFile;
  const isYaml = /\.yaml(\.tmpl)?$/.test(envoy.templateFile);
  return posix.join(envoy.configPath, `envoy-rev.${isYaml ? "yaml" : "json"}`);
}

/** Takes a line for the log or the user. */
export type Warn = (text: string) => void;

/**
 * The text of the bootstrap: the built-in one, or what a template gives. The image's template is passed over, with a
 * warning, if it gives no bootstrap: a name of a pod with a quote in it breaks what is pasted. Errors: MeshError of a
 * template that was named.
 */
export async function bootstrapText(world: World, settings: AgentSettings, warn: Warn): Promise<string> {
  const { templateFile, isImagesTemplate } = settings.envoy;
  if (templateFile === "") return builtIn(settings);
  const { renderBootstrap, renderReadable } = await import("./template.ts");
  if (!isImagesTemplate) return await renderBootstrap(world, settings);
  try {
    return await renderReadable(world, settings);
  } catch (error) {
    if (!(error instanceof MeshError)) throw error;
    warn(`${errorLine(error)}: the built-in bootstrap takes its place`);
    return builtIn(settings);
  }
}

/** Under the name of Istio's program the text is Istio's too, whatever of it is not JSON. */
function builtIn(settings: AgentSettings): string {
  const bootstrap = buildBootstrap(settings);
  return settings.program === "agent" ? `${JSON.stringify(bootstrap, null, 2)}\n` : istioText(bootstrap);
}

/**
 * Writes the bootstrap, whole or not at all, and gives the path for Envoy. A custom configuration file is used as it is and
 * nothing is written. Errors: MeshError that names the file.
 */
export async function writeBootstrap(world: World, settings: AgentSettings, warn: Warn): Promise<string> {
  const file = configFile(settings);
  if (settings.envoy.customConfigFile !== "") {
    if (await world.files.facts(file) !== undefined) return file;
    throw new MeshError(`The custom configuration file "${file}" is not there`);
  }
  const text = await bootstrapText(world, settings, warn);
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
