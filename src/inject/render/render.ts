/** Selects the templates of a pod and renders them. */
import { InjectionError } from "../injection_error.ts";
import type { GoStruct } from "../../core/gotemplate/mod.ts";
import { ANNOTATION } from "../../core/mesh/mod.ts";
import { isMap, type ValueMap } from "../../core/value.ts";
import type { ModernConfig } from "../config/config.ts";
import { renderedProblem, RenderedReader } from "./rendered.ts";
import { annotation, type Pod } from "../pod/pod.ts";
import { templateMessage } from "./template_message.ts";

/** Names of the templates for a pod: from its annotation, else the default ones, with aliases resolved. */
export function selectTemplates(pod: Pod, config: ModernConfig): readonly string[] {
  const asked = annotation(pod, ANNOTATION.templates);
  const names = asked === undefined ? config.defaultTemplates : asked.split(",").map((name) => name.trim());
  return names.flatMap((name) => config.aliases.get(name) ?? [name]);
}

/**
 * Renders a template to a part of a pod; `undefined` if it renders nothing.
 * Errors: a MeshError with the name of a template that is missing, fails, or does not render a YAML mapping.
 */
export function renderTemplate(config: ModernConfig, name: string, data: GoStruct): ValueMap | undefined {
  const template = config.templates.get(name);
  if (template === undefined) throw notFound(config, name);
  let text: string;
  try {
    text = template.render(data);
  } catch (error) {
    throw new InjectionError("template-failed", `The template "${name}" failed: ${templateMessage(error)}`, {
      cause: error,
    });
  }
  const patch = parseRendered(config, name, text);
  if (patch === null) return undefined;
  if (isMap(patch)) return patch;
  throw new InjectionError(
    "template-failed",
    `The template "${name}" does not render a pod: a mapping with "metadata" and "spec" is needed`,
  );
}

const readers = new WeakMap<ModernConfig, RenderedReader>();

/** One reader per configuration, because its pods have much in common. */
function readerOf(config: ModernConfig): RenderedReader {
  const known = readers.get(config) ?? new RenderedReader();
  readers.set(config, known);
  return known;
}

function parseRendered(config: ModernConfig, name: string, text: string) {
  try {
    return readerOf(config).read(text);
  } catch (error) {
    throw new InjectionError(
      "template-failed",
      `The template "${name}" does not render YAML: ${renderedProblem(text, error)}`,
      {
        cause: error,
      },
    );
  }
}

function notFound(config: ModernConfig, name: string): InjectionError {
  const have = [...config.templates.keys()].sort().map((known) => `"${known}"`).join(", ");
  return new InjectionError("template-unknown", `The template "${name}" is not in the injector configuration`, {
    place: { field: `metadata.annotations["${ANNOTATION.templates}"]` },
    hint: `it has ${have}`,
  });
}
