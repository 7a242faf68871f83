/** Recorded answers of old releases. */
import { readAnswers } from "../answers.ts";

/** Files with the answers of 1.1 and 1.8, and of releases with `templates`. */
export const FILES = {
  legacy: new URL("testdata/answers.jsonl.gz", import.meta.url),
  later: new URL("testdata/later.jsonl.gz", import.meta.url),
};

/** The resulting manifests, or a JSON patch, or an error. */
export interface LegacyAnswer {
  readonly name: string;
  readonly output?: string;
  readonly patch?: unknown;
  readonly error?: string;
}

export function readLegacyAnswers(of: keyof typeof FILES = "legacy"): Promise<LegacyAnswer[]> {
  return readAnswers(FILES[of]);
}
