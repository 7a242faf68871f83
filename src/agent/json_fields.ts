/** JSON as Go reads it into structures: names of fields in any case, the exact name first (encoding/json). */

/** The value of a JSON text; `undefined` if it is none. */
export function readJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Whether a JSON value is an object. */
export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** A field of an object; `undefined` if it is not there or null. */
export function fieldOf(object: Record<string, unknown>, name: string): unknown {
  const exact = Object.hasOwn(object, name) ? object[name] : undefined;
  if (exact !== undefined) return exact ?? undefined;
  const lower = name.toLowerCase();
  const found = Object.entries(object).find(([key]) => key.toLowerCase() === lower);
  return found?.[1] ?? undefined;
}
