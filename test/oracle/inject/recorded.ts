/** Istio's recorded answers. */
import { readAnswers, writeAnswers } from "../answers.ts";
import { type Amount } from "./questions.ts";
import type { Answer } from "./question.ts";

/** What was asked. */
export const RECORDED: Amount = { generated: 700, seed: 20260827, step: 13 };

const FILE = new URL("testdata/answers.jsonl.gz", import.meta.url);

/** An answer and the name of its question. */
export interface Recorded {
  readonly name: string;
  readonly answer: Answer;
}

export function readRecorded(): Promise<Recorded[]> {
  return readAnswers(FILE);
}

export function writeRecorded(recorded: readonly Recorded[]): Promise<void> {
  return writeAnswers(FILE, recorded);
}
