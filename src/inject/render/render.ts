/** Selects the templates for a pod, and renders them. */
import { MeshError } from "../../base/errors.ts";
import { InjectionError } from "../injection_error.ts";
import type { GoStruct, Template } from "../../golang/gotemplate/mod.ts";
import { ANNOTATION } from "../../istio/mod.ts";
import { copyMap, oncePer } from "../../base/values/mod.ts";
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
  const { mesh, revision, nativeSidecars, compliancePolicy, proxyUid, proxyGid, isLate } = input;
  const reader = readerOf(config);
  const templates = names.map((name) => ({ name, template: templateNamed(config, name) }));
  const isOnly = names.length === 1;
  const writes = templates.some(({ template }) => template.effects.has("writes"));
  /** Copies the values if template functions may change them, so that the next pod does not see the changes. */
  const ownValues = () => writes ? copyMap(input.values) : input.values;
  const values = isOnly ? input.values : ownValues();
  const setting = [mesh, values, revision, nativeSidecars, compliancePolicy, proxyUid, proxyGid];
  const dataFor = (seen: ValueMap) => templateData({ ...input, seen, values: isOnly ? ownValues() : values });
  const rendering: Rendering = {
    text: (watched, seen) => watched.render(dataFor(seen), { limits: { isLate } }),
    value: (text) => reader.read(text),
  };
  let data: GoStruct | undefined;
  return templates.map(({ name, template }) => {
    const memo = memoOf(template, setting, isOnly);
    const known = memo?.find(input.seen);
    if (known !== undefined) return known;
    const text = attempt(`The template "${name}" failed`, templateMessage, () => {
      return template.render(data ??= dataFor(input.seen), { limits: { isLate } });
    });
    const whatIsWrong = (error: unknown) => renderedProblem(text, error);
    const part = attempt(`The template "${name}" does not render YAML`, whatIsWrong, () => reader.read(text));
    if (part === null) return undefined;
    if (!isMap(part)) {
      const message =
        `The template "${name}" does not render a pod; it must render a mapping with "metadata" and "spec"`;
      throw new InjectionError("template-failed", message);
    }
    memo?.learn(template, input.seen, rendering, part);
    return part;
  }).filter((part) => part !== undefined);
}

/** The reader of each configuration. Pods of one configuration share many parts, which the reader caches. */
const readerOf = oncePer((_: ModernConfig) => new RenderedReader());

/** Runs `action`. Throws its error as an InjectionError that starts with `what`. */
function attempt<T>(what: string, messageFor: (error: unknown) => string, action: () => T): T {
  try {
    return action();
  } catch (error) {
    throw new InjectionError("template-failed", `${what}: ${messageFor(error)}`, { cause: error });
  }
}

/** Returns a template, parsing it if necessary. Throws an InjectionError if it is missing or invalid. */
function templateNamed({ templates }: ModernConfig, name: string): Template {
  const place = { field: `metadata.annotations["${ANNOTATION.templates}"]` };
  const parse = templates.get(name);
  if (parse === undefined) {
    const have = [...templates.keys()].sort().map((known) => `"${known}"`).join(", ");
    throw new InjectionError("template-unknown", `The template "${name}" is not in the injector configuration`, {
      place,
      hint: `available templates: ${have}`,
    });
  }
  try {
    return parse();
  } catch (error) {
    if (!(error instanceof MeshError)) throw error;
    const { message, hint, place: { file = "", field = "" } = {} } = error;
    throw new InjectionError("template-failed", `${message} (${file}: ${field})`, { place, cause: error, hint });
  }
}
