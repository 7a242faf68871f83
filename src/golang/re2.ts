/** RE2 regular expressions, implemented by re2js. Matching takes linear time, even for an untrusted pattern. */
import type { RE2JS } from "re2js";
import { LateLibrary } from "../base/late_library.ts";

/** The re2js library. Await `loaded()` before the first use. */
export const re2Library = new LateLibrary("re2js", () => import("re2js"));

/** Compiles a pattern, or returns why it is invalid. Throws if `re2Library` is not loaded. */
export function compileRe2(pattern: string): RE2JS | string {
  const { RE2JS, RE2JSException } = re2Library.get();
  try {
    return RE2JS.compile(pattern);
  } catch (error) {
    if (!(error instanceof RE2JSException)) throw error;
    return error.message;
  }
}
