/** The values that templates are rendered with: Helm's values of the control plane's chart. */
import { MeshError } from "../../core/errors.ts";
import { isList, isMap, newMap, type Value, type ValueMap } from "../../core/value.ts";
import { parseYaml } from "../../core/yaml/mod.ts";
import { configMapEntry } from "./config_map.ts";

/**
 * Values from YAML or JSON text, or from the ConfigMap of the injector (its key `values`). All numbers are floats, as
 * Istio decodes them. An empty text is no values. Errors: a MeshError with the place for text that is not a mapping.
 */
export function parseValues(text: string, file: string): ValueMap {
  const value = parseYaml(text, file);
  const inner = configMapEntry(value, "values", file);
  if (inner !== undefined) return parseValues(inner, file);
  if (value === null) return newMap();
  if (!isMap(value)) throw notValues("they are no mapping", file);
  if (typeof value["kind"] === "string" && "apiVersion" in value) throw notValues(`this is a ${value["kind"]}`, file);
  return floats(value);
}

function notValues(why: string, file: string): MeshError {
  return new MeshError(`These are no values: ${why}`, {
    place: { file },
    hint: "give the values of the control plane's chart, or the injector's ConfigMap",
  });
}

function floats(map: ValueMap): ValueMap {
  const result = newMap();
  for (const [key, item] of Object.entries(map)) result[key] = float(item);
  return result;
}

function float(value: Value): Value {
  if (typeof value === "bigint") return Number(value);
  if (isList(value)) return value.map(float);
  return isMap(value) ? floats(value) : value;
}
