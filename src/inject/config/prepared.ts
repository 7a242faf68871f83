/**
 * What was read of an injector's texts, as JSON: another run of this program with the same texts need not read them again.
 * Templates that are not default ones are left out.
 */
import type { FuncMap, ParsedTemplate, Template } from "../../core/gotemplate/mod.ts";
import { templateOf } from "../../core/gotemplate/mod.ts";
import { needsLibraries } from "../../core/gotemplate/sprig/mod.ts";
import type { MeshConfig } from "../../core/mesh/mod.ts";
import { isList, isMap, newMap, type Value, type ValueMap } from "../../core/value.ts";
import type { CommonConfig, InjectorConfig, ModernConfig } from "./config.ts";
import type { Configuration } from "./sources.ts";
import { unknownIn, type UnknownKeys } from "./unknown_keys.ts";

/** The form of the JSON. */
interface Prepared {
  readonly config: CommonConfig;
  readonly defaultTemplates: readonly string[];
  readonly aliases: readonly (readonly [string, readonly string[]])[];
  /** By name; `null` for a template that is left out. */
  readonly templates: readonly (readonly [string, ParsedTemplate | null])[];
  readonly values: ValueMap;
  readonly mesh: ValueMap;
  readonly unknown: UnknownKeys;
}

/**
 * What was read of these texts. `undefined` for an old form, for data that JSON cannot hold, for templates that need a library, and for
 * values or a mesh with a secret: it must not be kept.
 */
export function preparedText({ config, values, mesh }: Read<InjectorConfig>, texts: Configuration): string | undefined {
  // Without values there is a note, which is not kept.
  if (config.form === "legacy" || Object.keys(values).length === 0) return undefined;
  if (needsLibraries(texts.config.text, texts.values?.text ?? "")) return undefined;
  if ([texts.values, texts.mesh].some((source) => COMMENTED_SECRET.test(source?.text ?? ""))) return undefined;
  const { policy, neverInjectSelector, alwaysInjectSelector, injectedAnnotations, defaultTemplates, aliases } = config;
  if (![neverInjectSelector, alwaysInjectSelector, values, mesh.data].every(mayBeKept)) return undefined;
  const used = new Set(defaultTemplates.flatMap((name) => aliases.get(name) ?? [name]));
  const prepared: Prepared = {
    config: { policy, neverInjectSelector, alwaysInjectSelector, injectedAnnotations },
    defaultTemplates,
    aliases: [...aliases],
    templates: [...config.templates].map(([name, template]) => [name, used.has(name) ? template().parsed() : null]),
    values,
    mesh: mesh.data,
    unknown: unknownIn({ config, values, mesh }, texts.config.text),
  };
  return JSON.stringify(prepared);
}

/** Names of secrets: `lightstep.accessToken` in a mesh, variables in `proxyMetadata`. */
const SECRET = /token|passw|secret|credential|api_?key|private_?key/i;
const COMMENTED_SECRET = new RegExp(`#.*(?:${SECRET.source})`, "i");

/** JSON has neither large integers nor infinity, and no negative zero. */
function mayBeKept(value: Value | readonly Value[]): boolean {
  if (typeof value === "number") return Number.isFinite(value) && !Object.is(value, -0);
  if (isList(value)) return value.every(mayBeKept);
  if (!isMap(value)) return typeof value !== "bigint";
  return Object.entries(value).every(([key, item]) => mayBeKept(item) && !isSecret(key, item));
}

function isSecret(key: string, value: Value): boolean {
  return typeof value === "string" && value !== "" && SECRET.test(key);
}

/** What an injector has of its texts. */
interface Read<Config> {
  readonly config: Config;
  readonly values: ValueMap;
  readonly mesh: MeshConfig;
  readonly unknown?: UnknownKeys | undefined;
}

/** Reads what {@link preparedText} wrote; `other` reads a template that was left out. */
export function readPrepared(text: string, functions: FuncMap, other: (name: string) => Template): Read<ModernConfig> {
  const prepared: Prepared = JSON.parse(text);
  const { config, defaultTemplates, aliases, templates, values, mesh, unknown } = prepared;
  return {
    config: {
      form: "modern",
      policy: config.policy,
      neverInjectSelector: config.neverInjectSelector.map(withMappings),
      alwaysInjectSelector: config.alwaysInjectSelector.map(withMappings),
      injectedAnnotations: config.injectedAnnotations,
      defaultTemplates,
      aliases: new Map(aliases),
      templates: new Map(templates.map(([name, parsed]) => [name, lazy(name, parsed)])),
    },
    values: mapping(values),
    mesh: { era: "current", data: mapping(mesh) },
    unknown,
  };

  function lazy(name: string, parsed: ParsedTemplate | null): () => Template {
    let template: Template | undefined;
    return () => template ??= parsed === null ? other(name) : templateOf(parsed, { funcs: functions });
  }
}

/** The objects of JSON.parse inherit names. */
function withMappings(value: Value): Value {
  if (isList(value)) return value.map(withMappings);
  return isMap(value) ? mapping(value) : value;
}

function mapping(from: ValueMap): ValueMap {
  const map = newMap();
  for (const key of Object.keys(from)) map[key] = withMappings(from[key] ?? null);
  return map;
}
