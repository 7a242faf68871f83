/** Writes, prints and removes Envoy's bootstrap. */
import { posix } from "node:path";
import { errorLine, EXIT, MeshError } from "../../base/errors.ts";
import type { World } from "../../platform/world.ts";
import { type AgentSettings, readSettings } from "../settings/read.ts";
import { buildBootstrap } from "./bootstrap.ts";
import { istioText } from "./istio_text/istio_text.ts";
import { lightstepTokenFile, tracerOf } from "./parts/tracing.ts";

/** File mode: the bootstrap may contain tokens and addresses. */
const MODE = 0o600;

/** Returns the path for Envoy's `-c`. Envoy recognizes YAML by the extension. */
export function configFile({ envoy }: AgentSettings): string {
  if (envoy.customConfigFile !== "") return envoy.customConfigFile;
  const isYaml = /\.yaml(\.tmpl)?$/.test(envoy.templateFile);
  return posix.join(envoy.configPath, `envoy-rev.${isYaml ? "yaml" : "json"}`);
}

export type Warn = (text: string) => void;

/**
 * Returns the text of the bootstrap. If the image's template does not render a mapping (for example, a quote in a pod
 * name breaks the template), warns and uses the built-in bootstrap. Throws a MeshError if the user's own template
 * fails.
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
    warn(`${errorLine(error)}; the built-in bootstrap is used instead`);
    return builtIn(settings);
  }
}

/** Returns the built-in bootstrap. For `pilot-agent`, this is Istio's exact text, even if that is not valid JSON. */
function builtIn(settings: AgentSettings): string {
  const bootstrap = buildBootstrap(settings);
  return settings.program === "agent" ? `${JSON.stringify(bootstrap, null, 2)}\n` : istioText(bootstrap);
}

/**
 * Writes the bootstrap and returns its path. Leaves a custom configuration unchanged. If the file cannot be written, or
 * a custom configuration does not exist, throws a MeshError that names the file.
 */
export async function writeBootstrap(world: World, settings: AgentSettings, warn: Warn): Promise<string> {
  const file = configFile(settings);
  if (settings.envoy.customConfigFile !== "") {
    if (await world.files.stat(file) !== undefined) return file;
    throw new MeshError(`The custom configuration file "${file}" does not exist`);
  }
  const text = await bootstrapText(world, settings, warn);
  await world.files.makeFolder(settings.envoy.configPath);
  const token = tracerOf(settings)?.accessToken ?? "";
  if (token !== "") world.files.writeText(lightstepTokenFile(settings), token, MODE);
  world.files.writeText(file, text, MODE);
  return file;
}

/** Removes the generated bootstrap, after Envoy's exit. */
export async function removeBootstrap(world: World, settings: AgentSettings): Promise<void> {
  if (settings.envoy.customConfigFile === "") await world.files.remove(configFile(settings));
}

/**
 * `agent bootstrap`: prints the bootstrap to stdout, and warnings to stderr. Throws UsageError or MeshError for invalid
 * settings.
 */
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
