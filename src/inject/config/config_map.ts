import { MeshError } from "../../core/errors.ts";
import { isMap, type Value } from "../../core/value.ts";

/**
 * The text under a key of a ConfigMap; `undefined` if the value is no ConfigMap.
 * Errors: a MeshError if it is one and has no such key.
 */
export function configMapEntry(value: Value, key: string, file: string): string | undefined {
  const data = configMapData(value);
  if (data === undefined) return undefined;
  const text = data[key];
  if (typeof text === "string") return text;
  const keys = Object.keys(data);
  throw new MeshError(`The ConfigMap has no key "${key}"`, {
    place: { file, field: "data" },
    hint: keys.length === 0 ? "its data is empty" : `it has ${keys.map((name) => `"${name}"`).join(", ")}`,
  });
}

/** The data of a ConfigMap; `undefined` if the value is something else. */
export function configMapData(value: Value): Record<string, Value> | undefined {
  if (!isMap(value) || value["kind"] !== "ConfigMap") return undefined;
  const data = value["data"];
  return isMap(data) ? data : {};
}
