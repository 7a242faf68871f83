import { sprint } from "../../golang/gotemplate/mod.ts";
import { isList, isMap, type Value, type ValueMap } from "../../base/value.ts";

/**
 * Thrown for a strategic merge patch that cannot be applied. Uses the message of Kubernetes (lower-case start), so that
 * users can search for it. Callers prepend the source of the patch.
 */
export class PatchError extends Error {}

/** Returns the error for a list element without its merge key. */
export function noMergeKey(map: ValueMap, key: string): PatchError {
  return new PatchError(`map: ${sprint(map)} does not contain declared merge key: ${key}`);
}

/** Returns the error for a directive other than `replace` and `delete`. */
export function badDirective(directive: Value, map: ValueMap): PatchError {
  const other = directive === null ? "%!s(<nil>)" : `%!s(${goTypeName(directive)}=${sprint(directive)})`;
  const text = typeof directive === "string" ? directive : other;
  return new PatchError(`unknown patch type: ${text} in map: ${sprint(map)}`);
}

/** Returns the error for a value of the wrong type. */
function badType(expected: "[]interface {}" | "map[string]interface {}", actual: Value): PatchError {
  return new PatchError(`expected a ${expected}, but received a ${goTypeName(actual) ?? "%!s(<nil>)"}`);
}

/** Returns the value as a list. Throws a PatchError if it is not a list. */
export function asList(value: Value): Value[] {
  if (!isList(value)) throw badType("[]interface {}", value);
  return value;
}

/** Returns the value as a mapping. Throws a PatchError if it is not a mapping. */
export function asMap(value: Value): ValueMap {
  if (!isMap(value)) throw badType("map[string]interface {}", value);
  return value;
}

/** Returns the Go type of decoded JSON. A patch merges values of the same type and replaces other values. */
export function goTypeName(value: Value): string | undefined {
  if (value === null) return undefined;
  if (isList(value)) return "[]interface {}";
  if (isMap(value)) return "map[string]interface {}";
  if (typeof value === "string") return "string";
  return typeof value === "boolean" ? "bool" : "float64";
}
