import { MeshError } from "../../base/errors.ts";
import { isMap, type Value } from "../../base/value.ts";

/**
 * The text under a key of a ConfigMap; `undefined` if the value is not a ConfigMap.
 * Throws a MeshError for a ConfigMap without the key.
 */
export function configMapEntry(value: Value, key: string, file: string): string | undefined {
  const data = configMapData(value);
  if (data === undefined) return undefined;
  const text = data[key];
  if (typeof text === "string") return text;
  const keys = Object.keys(data);
  throw new MeshError(`The ConfigMap has no key "${key}"`, {
    place: { file, field: "data" },
    hint: keys.length === 0 ? "the ConfigMap is empty" : `existing keys: ${keys.map((name) => `"${name}"`).join(", ")}`,
  });
}

/** The data of a ConfigMap; `undefined` if the value is not a ConfigMap. */
export function configMapData(value: Value): Record<string, Value> | undefined {
  if (!isMap(value) || value["kind"] !== "ConfigMap") return undefined;
  const data = value["data"];
  return isMap(data) ? data : {};
}
