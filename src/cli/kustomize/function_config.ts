/** The configuration of the kustomize function: flags of `inject` as a file. */
import * as z from "zod/mini";
import { closest } from "../../base/text/mod.ts";
import { fieldText } from "../../base/field_path.ts";
import { isMap, mapAt, newMap, type Value, type ValueMap } from "../../base/value.ts";
import { readValue } from "../../golang/flags/mod.ts";

const API_VERSION = "kubectl-mesh/v1";

const text = z.string({ error: "must be a string" });
/** A string that the flag of the same type accepts. */
const textOf = (type: "name" | "tag") => {
  const reasonOf = (value: string) => readValue({ type, doc: "" }, value).reason;
  return text.check(z.refine((value) => reasonOf(value) === undefined, {
    error: ({ input }) => `cannot be "${input}": ${reasonOf(String(input))}`,
  }));
};
const toggle = z.boolean({ error: "must be true or false" });
const file = z.string({ error: "must be the name of a file" }).check(
  z.regex(/^(?!-$|https?:)./, { error: "must be the name of a file or folder, not a URL or standard input" }),
);
/** A file name, or the content of the file as a mapping. */
const source = z.union([file, z.record(z.string(), z.unknown())], {
  error: "must be the name of a file, or a mapping",
});

const SPEC = z.strictObject({
  injectConfig: z.optional(source),
  values: z.optional(source),
  meshConfig: z.optional(source),
  revision: z.optional(textOf("name")),
  istioVersion: z.optional(z.string({ error: 'must be a string, such as "1.20" in quotes' })),
  hub: z.optional(text),
  tag: z.optional(textOf("tag")),
  cni: z.optional(toggle),
  nativeSidecars: z.optional(z.union([z.boolean(), z.enum(["auto", "jobs"])], {
    error: 'must be true, false, "auto" or "jobs"',
  })),
  fit: z.optional(z.enum(["baseline", "restricted"], { error: 'must be "baseline" or "restricted"' })),
  ignoreRules: z.optional(z.array(text, { error: "must be a list of rules" })),
  failOn: z.optional(z.enum(["error", "warning"], { error: 'must be "error" or "warning"' })),
  baseline: z.optional(file),
  templateEnv: z.optional(z.array(text, { error: "must be a list of names" })),
  templatePath: z.optional(z.array(text, { error: "must be a list of KIND=PATH" })),
  manifests: z.optional(z.array(file, { error: "must be a list of files and folders" })),
}, { error: "must be a mapping" });

export const FUNCTION_CONFIG = z.strictObject({
  apiVersion: z.literal(API_VERSION, { error: `must be "${API_VERSION}"` }),
  kind: z.literal("Inject", { error: 'must be "Inject"; a ConfigMap may have the keys of "spec" as its data' }),
  metadata: z.optional(z.looseObject({})),
  spec: z.optional(SPEC),
}, { error: "must be a mapping" });

export interface FunctionConfig {
  readonly spec: Readonly<z.infer<typeof SPEC>>;
  /** The original mapping, in which numbers keep their digits. */
  readonly raw: ValueMap;
}

export interface ConfigProblem {
  readonly field: string;
  readonly message: string;
}

/**
 * Reads the configuration. A missing configuration counts as empty. A ConfigMap has the same keys (`kpt fn eval --
 * revision=canary` creates one).
 */
export function readFunctionConfig(config: Value): FunctionConfig | readonly ConfigProblem[] {
  if (config === null) return { spec: {}, raw: newMap() };
  if (isMap(config) && config["apiVersion"] === "v1" && config["kind"] === "ConfigMap") {
    const raw = fromData(mapAt(config, "data"));
    const { data, error } = SPEC.safeParse(raw);
    return data === undefined ? problemsOf(error.issues, ["data"]) : { spec: data, raw };
  }
  const { data, error } = FUNCTION_CONFIG.safeParse(config);
  if (data === undefined) return problemsOf(error.issues, []);
  return { spec: data.spec ?? {}, raw: isMap(config) ? mapAt(config, "spec") : newMap() };
}

/** Converts the values of a ConfigMap, which are always strings. */
function fromData(data: ValueMap): ValueMap {
  const spec = Object.assign(newMap(), data);
  for (const key of ["cni", "nativeSidecars"]) {
    if (data[key] === "true" || data[key] === "false") spec[key] = data[key] === "true";
  }
  for (const key of ["manifests", "templateEnv", "templatePath", "ignoreRules"]) {
    const listed = data[key];
    if (typeof listed === "string") spec[key] = listed.split(/[,\n]/).map((item) => item.trim()).filter(Boolean);
  }
  return spec;
}

type Issue = z.core.$ZodIssue;

function problemsOf(issues: readonly Issue[], at: readonly string[]): readonly ConfigProblem[] {
  return issues.flatMap((issue) => {
    const path = [...at, ...issue.path.map((step) => typeof step === "number" ? step : String(step))];
    if (issue.code === "unrecognized_keys") return issue.keys.map((key) => unknownKey([...path, key]));
    const field = fieldText(path);
    return [{ field, message: `${field === "" ? "it" : `"${field}"`} ${issue.message}` }];
  });
}

function unknownKey(path: readonly (string | number)[]): ConfigProblem {
  const key = String(path.at(-1));
  const isTop = path.length === 1;
  const inSpec = closest(key, Object.keys(SPEC.shape));
  const meant = isTop ? closest(key, Object.keys(FUNCTION_CONFIG.shape)) ?? (inSpec && `spec.${inSpec}`) : inSpec;
  const field = fieldText(path);
  return { field, message: `the key "${field}" is unknown${meant === undefined ? "" : `: did you mean "${meant}"?`}` };
}
