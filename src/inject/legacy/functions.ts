/** Template functions of Istio 1.0 to 1.8. */
import { type FuncMap, type GoStruct, type GoValue, parse, pure, varying } from "../../golang/gotemplate/mod.ts";
import { sprigFunctions } from "../../golang/gotemplate/sprig/mod.ts";
import { DurationView } from "../../istio/mod.ts";
import { type FunctionWorld, templateFunctions } from "../render/functions/mod.ts";

/** The data of the current rendering. The template function `render` uses the same data for its own text. */
export interface RenderScope {
  data: GoStruct | null;
}

/** Returns the current functions, and the functions of Istio 1.0 to 1.8 that later releases removed or changed. */
export function legacyFunctions(world: FunctionWorld, scope: RenderScope): FuncMap {
  const current = templateFunctions(world);
  const functions: Record<string, FuncMap[string]> = {
    ...current,
    formatDuration: pure(["interface {}"], formatDuration),
    render: varying(["string"], (text) => render(String(text), functions, scope)),
  };
  const renamed = { toJson: current["toJSON"], omit: sprigFunctions(world)["omit"] };
  for (const [name, func] of Object.entries(renamed)) if (func !== undefined) functions[name] = func;
  return functions;
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
