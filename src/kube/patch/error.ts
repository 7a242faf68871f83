import { sprint } from "../../golang/gotemplate/mod.ts";
import { isList, isMap, type Value, type ValueMap } from "../../base/value.ts";

/**
 * A strategic merge patch that cannot be applied. The message is Kubernetes' own (lower-case start), so that users find
 * it; callers prepend the patch's source.
 */
export class PatchError extends Error {}

/** A list element without the field that identifies it. */
export function noMergeKey(map: ValueMap, key: string): PatchError {
  return new PatchError(`map: ${sprint(map)} does not contain declared merge key: ${key}`);
}

/** A directive other than `replace` and `delete`. */
export function badDirective(directive: Value, map: ValueMap): PatchError {
  const other = directive === null ? "%!s(<nil>)" : `%!s(${goTypeName(directive)}=${sprint(directive)})`;
  const text = typeof directive === "string" ? directive : other;
  return new PatchError(`unknown patch type: ${text} in map: ${sprint(map)}`);
}

/** A value of the wrong type for a directive or a list. */
function badType(expected: "[]interface {}" | "map[string]interface {}", actual: Value): PatchError {
  return new PatchError(`expected a ${expected}, but received a ${goTypeName(actual) ?? "%!s(<nil>)"}`);
}

/** The value as a list; PatchError if it is not a list. */
export function asList(value: Value): Value[] {
  if (!isList(value)) throw badType("[]interface {}", value);
  return value;
}

/** The value as a mapping; PatchError if it is not a mapping. */
export function asMap(value: Value): ValueMap {
  if (!isMap(value)) throw badType("map[string]interface {}", value);
  return value;
}

/** The Go type of decoded JSON. Values of the same type are merged, others replaced. */
export function goTypeName(value: Value): string | undefined {
  if (value === null) return undefined;
  if (isList(value)) return "[]interface {}";
  if (isMap(value)) return "map[string]interface {}";
  if (typeof value === "string") return "string";
  return typeof value === "boolean" ? "bool" : "float64";
}
