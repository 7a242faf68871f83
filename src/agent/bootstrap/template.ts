/** Bootstraps from a template. Import it lazily: the template engine is large. */
import { MeshError, messageOf } from "../../core/errors.ts";
import { goJson } from "../../core/gojson.ts";
import { declared, type FuncMap, parse } from "../../core/gotemplate/mod.ts";
import { loadLibraries, sprigFunctions } from "../../core/gotemplate/sprig/mod.ts";
import { isMap } from "../../core/value.ts";
import { parseYaml } from "../../core/yaml/mod.ts";
import type { World } from "../../core/world/world.ts";
import type { AgentSettings } from "../settings/settings.ts";
import { templateParams } from "./template_params.ts";

/**
 * The text that the template gives: Go's text/template with `toJSON` and the functions of sprig, as in Istio. It is not
 * looked at: a template may be of YAML, and may be of another Envoy. Errors: MeshError with the file and Go's message.
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

/** The same, if it is a mapping that Envoy can read: as YAML, which takes Istio's commas too. Errors: MeshError. */
export async function renderReadable(world: World, settings: AgentSettings): Promise<string> {
  const text = await renderBootstrap(world, settings);
  const file = settings.envoy.templateFile;
  if (!isMap(parseYaml(text, `bootstrap of ${file}`))) {
    throw new MeshError(`The bootstrap template "${file}" gives no mapping`);
  }
  return text;
}

function functions(world: World): FuncMap {
  return {
    ...sprigFunctions({ env: (name) => world.env.get(name), now: () => world.clock.now() }),
    toJSON: declared(["interface {}"], (value = null) => value === null ? "{}" : goJson(value)),
  };
}
