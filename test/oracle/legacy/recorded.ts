/** What old releases answered. */
import { readAnswers } from "../answers.ts";

export const FILE = new URL("testdata/answers.jsonl.gz", import.meta.url);

/** Manifests, or a JSON patch; the error if there was one. */
export interface LegacyAnswer {
  readonly name: string;
  readonly output?: string;
  readonly patch?: unknown;
  readonly error?: string;
}

export function readLegacyAnswers(): Promise<LegacyAnswer[]> {
  return readAnswers(FILE);
}
