/** Reads node metadata from environment and proxy configuration, before type checks. */
import { goJsonParse } from "../../../golang/go_json.ts";
import { messageOf } from "../../../base/errors.ts";
import { isMap, newMap, type Value, type ValueMap } from "../../../base/value.ts";

const PREFIX = "ISTIO_META_";
const JSON_PREFIX = "ISTIO_METAJSON_";

/**
 * Merges the layers, lowest first: `ISTIO_META_X` in `proxyMetadata`, `ISTIO_META_X` in the environment, then the JSON
 * objects in all variables `ISTIO_METAJSON_*`. An invalid object is ignored with a warning. Source: Istio's
 * bootstrap.GetNodeMetaData.
 */
export function rawMetadata(
  env: Readonly<Record<string, string>>,
  proxyMetadata: Readonly<Record<string, string>>,
  warnings: string[],
): ValueMap {
  const raw = newMap();
  for (const variables of [proxyMetadata, env]) {
    for (const [name, text] of Object.entries(variables)) {
      if (name.startsWith(PREFIX)) raw[name.slice(PREFIX.length)] = text;
    }
  }
  for (const [name, text] of Object.entries(env)) {
    if (name.startsWith(JSON_PREFIX)) Object.assign(raw, readObject(name, text, warnings));
  }
  return raw;
}

/** Reads the static labels. Values that are not strings are ignored with a warning. */
export function staticLabels(env: Readonly<Record<string, string>>, warnings: string[]): Map<string, string> {
  const text = env[`${JSON_PREFIX}LABELS`];
  // `rawMetadata` already reports an invalid object.
  const object = text === undefined ? {} : readObject("", text, []);
  return new Map(
    Object.entries(object).flatMap(([key, value]): [string, string][] => {
      if (typeof value === "string") return [[key, value]];
      warnings.push(`The label "${key}" in "${JSON_PREFIX}LABELS" is ignored: its value is not a string`);
      return [];
    }),
  );
}

function readObject(name: string, text: string, warnings: string[]): ValueMap {
  const value = parsed(text);
  if (value instanceof Error) warnings.push(`"${name}" is ignored: it is not JSON: ${messageOf(value)}`);
  else if (value !== null && !isMap(value)) warnings.push(`"${name}" is ignored: it is not a JSON object`);
  else return value ?? newMap();
  return newMap();
}

function parsed(text: string): Value | Error {
  try {
    return toValue(goJsonParse(text));
  } catch (error) {
    return error instanceof Error ? error : new Error(String(error));
  }
}

function toValue(read: ReturnType<typeof goJsonParse>): Value {
  if (read === null || typeof read === "string" || typeof read === "number" || typeof read === "boolean") return read;
  if (Array.isArray(read)) return read.map(toValue);
  const map = newMap();
  for (const [key, item] of Object.entries(read)) map[key] = toValue(item);
  return map;
}
