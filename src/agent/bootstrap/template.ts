/** Renders bootstraps from a template. Import this module lazily: the template engine is large. */
import { MeshError, messageOf } from "../../base/errors.ts";
import { goJson } from "../../golang/go_json.ts";
import { type FuncMap, parse, pure } from "../../golang/gotemplate/mod.ts";
import { loadLibraries, sprigFunctions } from "../../golang/gotemplate/sprig/mod.ts";
import { isMap } from "../../base/value.ts";
import { parseYaml } from "../../yaml/mod.ts";
import type { World } from "../../platform/world.ts";
import type { AgentSettings } from "../settings/read.ts";
import { templateParams } from "./template_params.ts";

/**
 * Renders a Go text/template with `toJSON` and sprig. The result is not validated, because it may be YAML, and it may
 * be for any version of Envoy. Throws a MeshError with the file and Go's message.
 */
export async function renderBootstrap(world: World, settings: AgentSettings): Promise<string> {
  const file = settings.envoy.templateFile;
  const text = await world.files.readText(file);
  await loadLibraries(text);
  try {
    return parse("bootstrap", text, { funcs: functions(world) }).render(templateParams(settings));
  } catch (error) {
    throw new MeshError(`Cannot render the bootstrap template "${file}": ${messageOf(error)}`, { cause: error });
  }
}

/**
 * Renders the template. Throws a MeshError if the result is not a mapping. Reads the result as YAML, because Istio's
 * template leaves trailing commas.
 */
export async function renderReadable(world: World, settings: AgentSettings): Promise<string> {
  const text = await renderBootstrap(world, settings);
  const file = settings.envoy.templateFile;
  if (!isMap(parseYaml(text, `bootstrap of ${file}`))) {
    throw new MeshError(`The bootstrap template "${file}" does not render a mapping`);
  }
  return text;
}

function functions(world: World): FuncMap {
  return {
    ...sprigFunctions({ env: (name) => world.env.get(name), now: () => world.clock.now() }),
    toJSON: pure(["interface {}"], (value = null) => value === null ? "{}" : goJson(value)),
  };
}
