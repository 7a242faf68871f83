/** Reads JSON as Go's encoding/json does: prefers the exact field name, then accepts any letter case. */
import type { Value, ValueMap } from "../base/value.ts";
import { goJsonParse } from "../golang/go_json.ts";

/** Parses a JSON text as Go does: `__proto__` is a normal key. Returns `undefined` for text that is not JSON. */
export function readGoJson(text: string): unknown {
  try {
    return goJsonParse(text);
  } catch {
    // The text is not JSON.
    return undefined;
  }
}

/**
 * Returns a string field of an object; `""` if the field is absent or null. For any other value, returns `""` and adds
 * a problem.
 */
export function textField(object: ValueMap, name: string, problems: string[]): string {
  const value = fieldOf(object, name) ?? "";
  if (typeof value === "string") return value;
  problems.push(`"${name}" is not a string`);
  return "";
}

/** Returns a field of an object; `undefined` if absent or null. */
export function fieldOf(object: ValueMap, name: string): Value | undefined {
  const exact = Object.hasOwn(object, name) ? object[name] : undefined;
  if (exact !== undefined) return exact ?? undefined;
  const lower = name.toLowerCase();
  const found = Object.entries(object).find(([key]) => key.toLowerCase() === lower);
  return found?.[1] ?? undefined;
}
