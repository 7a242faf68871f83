/**
 * Parses the injector's configuration. Three forms exist: `templates` (Istio 1.9 and later), one `template` (Istio 1.0 to 1.8),
 * and the bare text of a template. Each form may be inside a ConfigMap.
 */
import { MeshError } from "../../base/errors.ts";
import { type FuncMap, parse, type Template } from "../../golang/gotemplate/mod.ts";
import { isMap, listAt, mapAt, textAt, textsAt, type Value, type ValueMap } from "../../base/value.ts";
import { parseDocument, parseYaml, splitText } from "../../yaml/mod.ts";
import { configMapData, configMapEntry } from "./config_map.ts";
import { type Shape, wrongIn } from "./shape.ts";
import { templateMessage } from "./template_message.ts";

/** A configuration text, with the file name to show in messages. */
export interface Source {
  readonly text: string;
  readonly file: string;
}

export interface CommonConfig {
  /** `enabled` or `disabled`: whether to inject pods that do not have the label or annotation `sidecar.istio.io/inject`. */
  readonly policy: string;
  readonly neverInjectSelector: readonly Value[];
  readonly alwaysInjectSelector: readonly Value[];
  readonly injectedAnnotations: Readonly<Record<string, string>>;
}

/** Istio 1.9 and later: each template renders a part of a pod, which is merged into the pod. */
export interface ModernConfig extends CommonConfig {
  readonly form: "modern";
  /** Templates by name. The first call may parse the template; it throws a MeshError if the template is invalid. */
  readonly templates: ReadonlyMap<string, () => Template>;
  readonly defaultTemplates: readonly string[];
  readonly aliases: ReadonlyMap<string, readonly string[]>;
}

/** Istio 1.0 to 1.8: one template renders lists, which are appended to the pod's lists. */
export interface LegacyConfig extends CommonConfig {
  readonly form: "legacy";
  readonly template: string;
  /** `[[` and `]]` in Istio 1.0 and 1.1, `{{` and `}}` since Istio 1.2. */
  readonly delimiters: readonly [string, string];
}

export type InjectorConfig = ModernConfig | LegacyConfig;

const TEMPLATE_OF_BARE_TEXT = "sidecar";

interface Parsing {
  /** Returns the functions that a template can call. The argument is the template's name. */
  readonly functions: (template: string) => FuncMap;
  /**
   * If true, templates other than the default ones are parsed on first use. Otherwise all are parsed at load, as in
   * istiod.
   */
  readonly whenAsked?: boolean | undefined;
}

/**
 * Reads a configuration. Throws a MeshError with file and field if the form is unknown, a field has the wrong type, or
 * a template is invalid.
 */
export function parseConfig(text: string, file: string, parsing: Parsing): InjectorConfig {
  const value = tryYaml(text, file);
  if (isMap(value)) {
    const inner = configMapEntry(value, "config", file);
    if (inner !== undefined) return parseConfig(inner, `${file} (key "config")`, parsing);
    // Current ConfigMaps also have the key `template`. It holds a message for clients older than Istio 1.9.
    const { templates } = value;
    if (isMap(templates) && Object.keys(templates).length > 0) return modern(value, { file, ...parsing });
    if (typeof value["template"] === "string") return legacy(value, value["template"], file);
  }
  return bare(text, value, { file, ...parsing });
}

/** Reads another key of the ConfigMap in `text`; `undefined` if the text is not a ConfigMap or lacks the key. */
export function textBesideConfig(text: string, file: string, key: string): string | undefined {
  const found = configMapData(tryYaml(text, file) ?? null)?.[key];
  return typeof found === "string" ? found : undefined;
}

/** Matches top-level keys that only a configuration has. A bare template does not have these keys. */
const CONFIG_KEYS = /^(policy|templates?|defaultTemplates|aliases|(never|always)InjectSelector)\s*:/m;

/** Returns `undefined` for a bare template, which is often invalid YAML. Throws if a configuration is invalid YAML. */
function tryYaml(text: string, file: string): Value | undefined {
  try {
    return parseYaml(text, file);
  } catch (error) {
    if (/\{\{|\[\[/.test(text) && !CONFIG_KEYS.test(text)) return undefined;
    const first = firstValue(text, file);
    throw isManifest(first) ? notConfig(first, file) : error;
  }
}

/** Reads the first non-empty document; `undefined` if the text has none or is invalid YAML. */
function firstValue(text: string, file: string): Value | undefined {
  try {
    return splitText(text, file).map((document) => parseDocument(document).value).find((value) => value !== null);
  } catch {
    // The caller has parsed the same text, and reports why its YAML is invalid.
    return undefined;
  }
}

/** Whether a value is a Kubernetes object that is not a ConfigMap, so that it cannot contain a configuration. */
function isManifest(value: Value | undefined): value is ValueMap {
  return isMap(value) && typeof value["kind"] === "string" && value["kind"] !== "ConfigMap";
}

function modern(config: ValueMap, source: Reading): ModernConfig {
  const fields = common(config, source.file);
  const defaults = textsAt(config, "defaultTemplates");
  const defaultTemplates = defaults.length === 0 ? [TEMPLATE_OF_BARE_TEXT] : defaults;
  const named = mapAt(config, "aliases");
  const aliases = new Map(Object.keys(named).map((name) => [name, textsAt(named, name)]));
  const templates = lazyTemplates(stringsAt(config, "templates"), source);
  const first = source.whenAsked === true
    ? defaultTemplates.flatMap((name) => aliases.get(name) ?? [name])
    : templates.keys();
  for (const name of first) templates.get(name)?.();
  return { form: "modern", ...fields, templates, defaultTemplates, aliases };
}

function legacy(config: ValueMap, template: string, file: string): LegacyConfig {
  return { form: "legacy", ...common(config, file), template, delimiters: delimitersOf(template) };
}

function delimitersOf(template: string): readonly [string, string] {
  return template.includes("[[") && !template.includes("{{") ? ["[[", "]]"] : ["{{", "}}"];
}

/** Matches the top-level keys of a bare template for Istio 1.0 to 1.8. A later template has the keys in POD_KEYS. */
const LEGACY_KEYS =
  /^(?:initContainers|containers|volumes|imagePullSecrets|dnsConfig|rewriteAppHTTPProbe|podRedirectAnnot)[ \t]*:/m;
const POD_KEYS = /^(metadata|spec)\s*:/m;

interface Reading extends Parsing {
  readonly file: string;
}

function bare(text: string, value: Value | undefined, source: Reading): InjectorConfig {
  const isTemplate = /\{\{|\[\[/.test(text) || (isMap(value) && value["kind"] === undefined && POD_KEYS.test(text));
  if (!isTemplate && !LEGACY_KEYS.test(text)) throw notConfig(value, source.file);
  const common = { policy: "enabled", neverInjectSelector: [], alwaysInjectSelector: [], injectedAnnotations: {} };
  if (LEGACY_KEYS.test(text) && !POD_KEYS.test(text)) {
    return { form: "legacy", ...common, template: text, delimiters: delimitersOf(text) };
  }
  const templates = lazyTemplates([[TEMPLATE_OF_BARE_TEXT, text]], source);
  templates.get(TEMPLATE_OF_BARE_TEXT)?.();
  return { form: "modern", ...common, templates, defaultTemplates: [TEMPLATE_OF_BARE_TEXT], aliases: new Map() };
}

function notConfig(value: Value | undefined, file: string): MeshError {
  const kind = isMap(value) ? textAt(value, "kind") : "";
  const what = value === null ? "An empty file" : kind === "" ? "The file" : `A ${kind}`;
  return new MeshError(`${what} is not an injector configuration`, {
    place: { file },
    hint:
      'give a configuration with "templates" (or "policy" and "template"), its ConfigMap, or the text of a template',
  });
}

/** Templates that are parsed on first use. */
function lazyTemplates(texts: readonly (readonly [string, string])[], source: Reading): Map<string, () => Template> {
  const templates = new Map<string, () => Template>();
  for (const [name, text] of texts) {
    let template: Template | undefined;
    templates.set(name, () => template ??= parseTemplate(name, text, source));
  }
  return templates;
}

/** Parses a template under the name `inject`, which Istio gives to every template. Error messages contain this name. */
function parseTemplate(name: string, text: string, { file, functions }: Reading): Template {
  try {
    return parse("inject", text, { funcs: functions(name) });
  } catch (error) {
    const message = `The template "${name}" cannot be parsed: ${templateMessage(error)}`;
    const place = { file, field: `templates.${name}` };
    if (!/function "[^"\n]*" not defined/.test(message)) throw new MeshError(message, { place, cause: error });
    throw new MeshError(message, {
      place,
      cause: error,
      hint: "check whether the template is from a newer Istio release",
    });
  }
}

const ANY = { list: "any" } as const;
const STRINGS = { map: "text" } as const;
const CONFIG_SHAPE: Shape = {
  fields: {
    "policy?": "text",
    "neverInjectSelector?": ANY,
    "alwaysInjectSelector?": ANY,
    "injectedAnnotations?": STRINGS,
    "templates?": STRINGS,
    "defaultTemplates?": { list: "text" },
    "aliases?": { map: { list: "text" } },
  },
};

function common(config: ValueMap, file: string): CommonConfig {
  const wrong = wrongIn(config, CONFIG_SHAPE);
  if (wrong !== undefined) {
    throw new MeshError(`"${wrong.field}" in the injector configuration must be ${wrong.expected}`, {
      place: { file, field: wrong.field },
    });
  }
  return {
    policy: textAt({ policy: config["policy"] ?? "enabled" }, "policy"),
    neverInjectSelector: listAt(config, "neverInjectSelector"),
    alwaysInjectSelector: listAt(config, "alwaysInjectSelector"),
    injectedAnnotations: Object.fromEntries(stringsAt(config, "injectedAnnotations")),
  };
}

function stringsAt(config: ValueMap, key: string): readonly (readonly [string, string])[] {
  const map = mapAt(config, key);
  return Object.keys(map).map((name) => [name, textAt(map, name)]);
}
