/** Istio's recorded answers. */
import { readAnswers, writeAnswers } from "../answers.ts";
import type { Amount, Origin } from "./questions.ts";
import type { Answer } from "./question.ts";

/** The amount of questions that is recorded. */
export const RECORDED: Amount = { generated: 700, seed: 20260827, step: 13 };

const FILES = { own: "testdata/own.jsonl.gz", shared: "testdata/answers.jsonl.gz" };

/** An answer, and the name of the question. */
export interface Recorded {
  readonly name: string;
  readonly answer: Answer;
}

export function readRecorded(origin: Origin): Promise<Recorded[]> {
  return readAnswers(new URL(FILES[origin], import.meta.url));
}

export function writeRecorded(origin: Origin, recorded: readonly Recorded[]): Promise<void> {
  return writeAnswers(new URL(FILES[origin], import.meta.url), recorded);
}

/** The output of Istio's `kube-inject` for one of our own cases, and its error. */
export interface RecordedCase {
  readonly name: string;
  readonly output: string;
  readonly error?: string;
}

const CASES = new URL("testdata/cases.jsonl.gz", import.meta.url);

export function readRecordedCases(): Promise<RecordedCase[]> {
  return readAnswers(CASES);
}

export function writeRecordedCases(recorded: readonly RecordedCase[]): Promise<void> {
  return writeAnswers(CASES, recorded);
}
