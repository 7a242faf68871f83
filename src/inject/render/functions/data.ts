/** Template functions for JSON, YAML and string maps. */
import { goJson, goJsonParse } from "../../../golang/go_json.ts";
import {
  type FuncMap,
  type GoMap,
  GoStruct,
  type GoValue,
  isGoMap,
  isNil,
  pure,
  sprint,
  typed,
} from "../../../golang/gotemplate/mod.ts";
import { protoToJson } from "../../../istio/mod.ts";
import { isList, isMap, newMap, type Value, type ValueMap } from "../../../base/value.ts";
import { toYaml } from "../../../yaml/mod.ts";
import { configOfView } from "../views.ts";
import { plain } from "./plain.ts";

const ANY = "interface {}";

export const dataFunctions: FuncMap = {
  valueOrDefault: pure(
    [ANY, ANY],
    (value = null, otherwise = null) => value === "" || isNil(value) ? otherwise : value,
  ),
  toYaml: pure([ANY], (value = null) => toYaml(plain(value), { sortKeys: true })),
  toJSON: pure(["map[string]string"], (map = null) => isNil(map) ? "{}" : goJson(map)),
  structToJSON: pure([ANY], (value = null) => isNil(value) ? "{}" : goJson(value)),
  protoToJSON: pure([ANY], protoToJSON),
  fromJSON: pure(["string"], fromJSON),
  omitNil: pure([ANY], (value = null) => omitNil(plain(value)) ?? null),
  strdict: pure(["string"], (...pairs) => strdict(pairs), true),
  toJsonMap: pure(["map[string]string"], (...maps) => goJson(mergeMaps(maps)), true),
  mergeMaps: pure(["map[string]string"], (...maps) => mergeMaps(maps), true),
  omit: pure(["map[string]string", "string"], omit, true),
};

function protoToJSON(view: GoValue = null): string {
  if (isNil(view)) return "{}";
  const config = view instanceof GoStruct ? configOfView(view) : undefined;
  if (config === undefined) throw new Error("protoToJSON accepts only the proxy configuration");
  return protoToJson(config);
}

/** Parses JSON. Returns the string `{}` if the JSON is invalid, as Istio does. */
function fromJSON(text: GoValue): GoValue {
  try {
    return goJsonParse(String(text));
  } catch {
    // Istio ignores this error.
    return "{}";
  }
}

/** Removes nulls, and maps and lists that contain only nulls. Returns `undefined` if the value itself is removed. */
function omitNil(value: Value): Value | undefined {
  if (value === null) return undefined;
  if (isList(value)) {
    const left = value.map(omitNil).filter((item) => item !== undefined);
    return left.length === 0 && value.length > 0 ? undefined : left;
  }
  if (!isMap(value)) return value;
  const kept = newMap();
  for (const [key, item] of Object.entries(value)) {
    const left = omitNil(item);
    if (left !== undefined) kept[key] = left;
  }
  return Object.keys(kept).length === 0 && Object.keys(value).length > 0 ? undefined : kept;
}

function strings(map: ValueMap): GoMap {
  return typed(map, "map[string]string");
}

/** Builds a string map from alternating keys and values. A missing last value becomes `""`. */
function strdict(pairs: readonly GoValue[]): GoMap {
  const map = newMap();
  for (let i = 0; i < pairs.length; i += 2) {
    const value = pairs[i + 1];
    map[sprint(pairs[i] ?? null)] = value === undefined ? "" : sprint(value);
  }
  return strings(map);
}

function mergeMaps(maps: readonly GoValue[]): GoMap {
  const merged = newMap();
  for (const map of maps) {
    if (isGoMap(map)) { for (const [key, value] of Object.entries(map)) merged[key] = plain(value); }
  }
  return strings(merged);
}

function omit(map: GoValue = null, ...keys: GoValue[]): GoMap {
  const left = mergeMaps([map]);
  const kept = newMap();
  for (const [key, value] of Object.entries(left)) {
    if (!keys.includes(key)) kept[key] = plain(value);
  }
  return strings(kept);
}
