/** Template functions of Istio 1.0 to 1.8: a subset of the current ones, and `toJson` and `render`. */
import { type FuncMap, type GoStruct, type GoValue, parse, pure, varying } from "../../golang/gotemplate/mod.ts";
import { sprigFunctions } from "../../golang/gotemplate/sprig/mod.ts";
import { DurationView } from "../../istio/mod.ts";
import { type FunctionWorld, templateFunctions } from "../render/functions/mod.ts";

/** The data of the current rendering. The template function `render` uses the same data for its own text. */
export interface RenderScope {
  data: GoStruct | null;
}

/** All template functions of Istio 1.0 and 1.1. */
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

/** Istio's own template functions in 1.8. Sprig's functions are added to these. */
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

/**
 * Returns the functions of Istio 1.1 if `brackets` (the delimiters are `[[ ]]`), otherwise the functions of Istio 1.8,
 * which include all functions of 1.2 to 1.7.
 */
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

/** Formats a duration as Go does; `1s` if the duration is unset. */
function formatDuration(duration: GoValue = null): GoValue {
  if (!(duration instanceof DurationView)) return "1s";
  return duration.isNil ? "1s" : duration.get("AsDuration") ?? "1s";
}

/** Renders a text, such as a value, as a template. Returns `""` if rendering fails. */
function render(text: string, functions: FuncMap, scope: RenderScope): string {
  try {
    return parse("inject", text, { funcs: functions }).render(scope.data);
  } catch {
    // Istio 1.0 to 1.8 ignore this error too.
    return "";
  }
}
