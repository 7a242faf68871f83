/** Finds the EnvoyFilter or Telemetry behind a part of Envoy's configuration, such as a filter or an expression. */
import { isMap, mapAt, mapsAt, textAt, type Value, type ValueMap } from "../../../base/value.ts";
import type { Search } from "../cause.ts";
import { type Finding, type Path, removal } from "../change.ts";
import { type MeshResources, resourcesFor } from "../mesh_resources.ts";

/**
 * Searches EnvoyFilters, then Telemetries: Envoy's error message does not show which resource contains the rejected
 * part.
 */
export async function writerOf(
  resources: MeshResources,
  { workload, text }: Extract<Search, { by: "text" }>,
): Promise<Finding | undefined> {
  for (const object of await resourcesFor(resources, "EnvoyFilter", workload)) {
    const at = mapsAt(mapAt(object, "spec"), "configPatches").findIndex((each) =>
      namesIn(mapAt(each, "patch")).some((name) => text.includes(name))
    );
    const path: Path = ["spec", "configPatches", at];
    if (at >= 0) return removal(object, path, "correct or remove FIELD");
  }
  for (const object of await resourcesFor(resources, "Telemetry", workload)) {
    const found = expressionIn(object, text);
    if (found !== undefined) return found;
  }
  return undefined;
}

/** Returns the names of filters in a patch, and the types of their configuration. */
function namesIn(value: Value): string[] {
  if (Array.isArray(value)) return value.flatMap(namesIn);
  if (!isMap(value)) return [];
  const own = ["name", "@type", "type_url"].map((key) => textAt(value, key).split("/").at(-1) ?? "");
  return [...own.filter((name) => name.includes(".")), ...Object.values(value).flatMap(namesIn)];
}

/**
 * Finds the access log filter whose CEL expression occurs in `text`. Envoy quotes the expression in its error message.
 */
function expressionIn(object: ValueMap, text: string): Finding | undefined {
  const at = mapsAt(mapAt(object, "spec"), "accessLogging").findIndex((each) => {
    const expression = textAt(mapAt(each, "filter"), "expression");
    return expression !== "" && text.includes(expression);
  });
  if (at < 0) return undefined;
  const found = removal(object, ["spec", "accessLogging", at], "correct or remove FIELD");
  return { ...found, field: `${found.field}.filter.expression` };
}
