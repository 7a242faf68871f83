/**
 * The configuration of a Wasm filter in the form that EnvoyFilters use: a `TypedStruct`, which contains the message as
 * JSON.
 */
import { isMap, mapAt, newMap, textAt, type Value, type ValueMap } from "../../base/value.ts";
import { isOpen, isOwnVariable, type Plugin } from "./plugin.ts";

const POLICIES: readonly Value[] = ["UNSPECIFIED", "FAIL_RELOAD", "FAIL_CLOSED", "FAIL_OPEN"];

/** Returns the name under which a field occurs: protobuf JSON has field names in snake case or in camel case. */
function nameIn(map: ValueMap, name: string): string {
  const camel = name.replaceAll(/_(.)/g, (_, letter: string) => letter.toUpperCase());
  return camel in map ? camel : name;
}

function at(map: ValueMap, ...path: readonly string[]): ValueMap {
  return path.reduce((inner, name) => mapAt(inner, nameIn(inner, name)), map);
}

export function structPlugin(wasm: ValueMap): Plugin {
  const plugin = at(wasm, "config");
  const vm = at(plugin, "vm_config");
  const code = at(vm, "code");
  const uri = at(code, "remote", "http_uri");
  const policy = plugin[nameIn(plugin, "failure_policy")] ?? 0;
  return {
    remote: isMap(code["remote"])
      ? {
        url: textAt(uri, "uri"),
        sha256: textAt(code["remote"], "sha256"),
        timeout: milliseconds(textAt(uri, "timeout")),
      }
      : undefined,
    variables: new Map(
      Object.entries(at(vm, "environment_variables", "key_values")).map(([name, value]) => [name, String(value)]),
    ),
    isFailOpen: isOpen(
      typeof policy === "number" ? policy : POLICIES.indexOf(policy),
      plugin[nameIn(plugin, "fail_open")] === true,
    ),
  };
}

/** Returns the milliseconds of a JSON duration such as `1.5s`. */
function milliseconds(text: string): number | undefined {
  const [, seconds] = /^(\d+(?:\.\d+)?)s$/.exec(text) ?? [];
  return seconds === undefined ? undefined : Number(seconds) * 1000;
}

/** Returns the configuration with the module from a file, and without Istio's own variables. */
export function structWithFile(wasm: ValueMap, file: string): ValueMap {
  return inner(wasm, "config", (plugin) =>
    inner(plugin, "vm_config", (vm) => {
      const local = Object.assign(newMap(), vm, { code: { local: { filename: file } } });
      return inner(local, "environment_variables", withoutOwnVariables);
    }));
}

function withoutOwnVariables(environment: ValueMap): ValueMap | undefined {
  const left = inner(environment, "key_values", (values) => {
    const kept = Object.entries(values).filter(([name]) => !isOwnVariable(name));
    return kept.length === 0 ? undefined : Object.assign(newMap(), Object.fromEntries(kept));
  });
  return Object.keys(left).length === 0 ? undefined : left;
}

/** Returns a map in which one inner message is changed or removed. */
function inner(map: ValueMap, name: string, change: (value: ValueMap) => ValueMap | undefined): ValueMap {
  const key = nameIn(map, name);
  const value = map[key];
  if (!isMap(value)) return map;
  const result: ValueMap = Object.assign(newMap(), map);
  const next = change(value);
  if (next === undefined) delete result[key];
  else result[key] = next;
  return result;
}
