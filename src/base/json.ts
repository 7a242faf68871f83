import type { Value } from "./value.ts";

/** The value of a JSON text; `undefined` for any other text. */
export function parseJson(text: string): Value | undefined {
  try {
    return JSON.parse(text);
  } catch {
    // A SyntaxError: JSON.parse throws no other error.
    return undefined;
  }
}
