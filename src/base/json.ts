import type { Value } from "./value.ts";

/** Returns the value of a JSON text; `undefined` for text that is not JSON. */
export function parseJson(text: string): Value | undefined {
  try {
    return JSON.parse(text);
  } catch {
    // Only a SyntaxError: JSON.parse does not throw other errors.
    return undefined;
  }
}
