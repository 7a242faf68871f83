/**
 * The annotation that `webhook manifests` sets on its objects: the flags that create the same objects again. `check`
 * shows these flags.
 */
import { parseJson } from "../../base/json.ts";

/** A JSON list of flags, each `--name` or `--name=value`. */
export const FLAGS_ANNOTATION = "kubectl-mesh/manifests-flags";

/** Maximum length of the annotation. Real flags are shorter, but anyone who can write the object can set any value. */
const MAX_CHARACTERS = 4096;
const FLAG = /^--[a-zA-Z][\w-]*(=\P{Cc}*)?$/u;

/** The value of the annotation. */
export function flagsText(flags: readonly string[]): string {
  return JSON.stringify(flags);
}

/** The flags in an annotation; `undefined` for a value that `flagsText` cannot have written. */
export function readFlags(text: string): readonly string[] | undefined {
  if (text.length > MAX_CHARACTERS) return undefined;
  const all = parseJson(text);
  return Array.isArray(all) && all.length > 0 && all.every(isFlag) ? all : undefined;
}

function isFlag(value: unknown): value is string {
  return typeof value === "string" && FLAG.test(value);
}
