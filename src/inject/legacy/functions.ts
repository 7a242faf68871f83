/** The functions of old templates: a subset of today's, and two more. */
import { type FuncMap, type GoStruct, type GoValue, parse, pure, varying } from "../../golang/gotemplate/mod.ts";
import { sprigFunctions } from "../../golang/gotemplate/sprig/mod.ts";
import { DurationView } from "../../istio/mod.ts";
import { type FunctionWorld, templateFunctions } from "../render/functions/mod.ts";

/** The data of the current render, which `render` uses for other templates. */
export interface RenderScope {
  data: GoStruct | null;
}

/** All functions in 1.0 and 1.1. */
const FIRST = [
  "formatDuration",
  "isset",
  "excludeInboundPort",
  "includeInboundPorts",
  "kubevirtInterfaces",
  "applicationPorts",
  "annotation",
  "valueOrDefault",
  "toJSON",
  "toJson",
  "fromJSON",
  "toYaml",
  "indent",
  "directory",
];

/** Istio's functions in 1.8, beside sprig's. */
const LAST = [
  ...FIRST,
  "structToJSON",
  "protoToJSON",
  "contains",
  "toLower",
  "appendMultusNetwork",
  "env",
  "render",
];

/** The functions of a template with `[[ ]]` (as in 1.1), or with `{{ }}` (as in 1.8, which has all of 1.2 to 1.7). */
export function legacyFunctions(brackets: boolean, world: FunctionWorld, scope: RenderScope): FuncMap {
  const all = templateFunctions(world);
  const own = { ...all, toJson: all["toJSON"], formatDuration: pure(["interface {}"], formatDuration) };
  if (brackets) return picked(own, FIRST);
  const functions: Record<string, FuncMap[string]> = { ...sprigFunctions(world), ...picked(own, LAST) };
  functions["render"] = varying(["string"], (text) => render(String(text), functions, scope));
  return functions;
}

function picked(functions: Readonly<Record<string, FuncMap[string] | undefined>>, names: readonly string[]): FuncMap {
  return Object.fromEntries(names.flatMap((name) => functions[name] === undefined ? [] : [[name, functions[name]]]));
}

/** A duration as Go prints it; `1s` if it is unset. */
function formatDuration(duration: GoValue = null): GoValue {
  if (!(duration instanceof DurationView)) return "1s";
  return duration.isNil ? "1s" : duration.get("AsDuration") ?? "1s";
}

/** Renders a text, such as a value, as a template; `""` if that fails. */
function render(text: string, functions: FuncMap, scope: RenderScope): string {
  try {
    return parse("inject", text, { funcs: functions }).render(scope.data);
  } catch {
    // Istio 1.0 to 1.8 ignore the error of a value that is no valid template.
    return "";
  }
}
