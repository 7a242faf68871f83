/** Selects the templates for a pod, and renders them. */
import { MeshError } from "../../base/errors.ts";
import { InjectionError } from "../injection_error.ts";
import type { GoStruct, Template } from "../../golang/gotemplate/mod.ts";
import { ANNOTATION } from "../../istio/mod.ts";
import { copyMap } from "../../base/values/mod.ts";
import { isMap, type ValueMap } from "../../base/value.ts";
import type { ModernConfig } from "../config/config.ts";
import { renderedProblem, RenderedReader } from "./rendered.ts";
import { annotation, type Pod } from "../pod/pod.ts";
import { memoOf, type Rendering } from "./memo/memo.ts";
import { templateData, type TemplateInput } from "./data.ts";
import { templateMessage } from "../config/template_message.ts";

/** Returns the names of a pod's templates, from its annotation or the defaults. Resolves aliases. */
export function selectTemplates(pod: Pod, config: ModernConfig): readonly string[] {
  const asked = annotation(pod, ANNOTATION.templates);
  const names = asked === undefined ? config.defaultTemplates : asked.split(",").map((name) => name.trim());
  return names.flatMap((name) => config.aliases.get(name) ?? [name]);
}

/**
 * Renders templates to parts of a pod. A template with empty output contributes no part. Do not change the parts: they are
 * shared between pods.
 * Throws an InjectionError that names the template, if it is missing, fails, or does not render a YAML mapping.
 */
export function renderTemplates(config: ModernConfig, names: readonly string[], input: TemplateInput): ValueMap[] {
  let data: GoStruct | undefined;
  const { mesh, revision, nativeSidecars, compliancePolicy, proxyUid, proxyGid, isLate } = input;
  const limits = { isLate };
  const isOnly = names.length === 1;
  const writes = names.some((name) => templateNamed(config, name)?.effects.has("writes"));
  /** Template functions may write to values, so copy the values: the next pod must not see such writes. */
  const ownValues = () => writes ? copyMap(input.values) : input.values;
  const values = isOnly ? input.values : ownValues();
  const dataFor = (seen: ValueMap) => templateData({ ...input, seen, values: isOnly ? ownValues() : values });
  const setting = [mesh, values, revision, nativeSidecars, compliancePolicy, proxyUid, proxyGid];
  const rendering: Rendering = {
    text: (watched, seen) => watched.render(dataFor(seen), { limits }),
    value: (text) => readerOf(config).read(text),
  };
  return names.map((name) => {
    const template = templateNamed(config, name);
    if (template === undefined) throw notFound(config, name);
    const memo = memoOf(template, setting, isOnly);
    const known = memo?.find(input.seen);
    if (known !== undefined) return known;
    const part = renderTemplate(config, { name, template, limits }, data ??= dataFor(input.seen));
    if (part !== undefined) memo?.learn(template, input.seen, rendering, part);
    return part;
  }).filter((part) => part !== undefined);
}

/** Returns a template, parsing it if necessary. Throws an InjectionError if the template is invalid. */
function templateNamed(config: ModernConfig, name: string): Template | undefined {
  try {
    return config.templates.get(name)?.();
  } catch (error) {
    if (!(error instanceof MeshError)) throw error;
    const { file = "", field = "" } = error.place ?? {};
    throw new InjectionError("template-failed", `${error.message} (${file}: ${field})`, {
      place: { field: `metadata.annotations["${ANNOTATION.templates}"]` },
      cause: error,
      hint: error.hint,
    });
  }
}

function renderTemplate(
  config: ModernConfig,
  { name, template, limits }: {
    readonly name: string;
    readonly template: Template;
    readonly limits: Pick<TemplateInput, "isLate">;
  },
  data: GoStruct,
): ValueMap | undefined {
  let text: string;
  try {
    text = template.render(data, { limits });
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
    `The template "${name}" does not render a pod; it must render a mapping with "metadata" and "spec"`,
  );
}

const readers = new WeakMap<ModernConfig, RenderedReader>();

/** Returns the configuration's reader. Pods of one configuration share many parts, which the reader caches. */
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
    hint: `available templates: ${have}`,
  });
}
