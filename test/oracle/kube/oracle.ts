import { askGoProgram } from "../../support/programs/go_program.ts";
import type { Value, ValueMap } from "../../../src/base/value.ts";

/** A question to the Go program in this folder, whose comments describe the result of each operation. */
export type Question =
  | { op: "merge"; type: string; original: ValueMap; patch: ValueMap }
  | { op: "decode"; type: string; text: string }
  | { op: "quantity"; text: string }
  | { op: "compare"; text: string; other: string }
  | { op: "schema"; type: string }
  | { op: "selector"; original: Value; patch: Value };

/** The answer from Kubernetes' Go code. */
export interface Answer {
  readonly result?: Value;
  readonly error?: string;
}

/** Asks the Go program in this folder. Returns one answer for each question. */
export async function askOracle(questions: readonly Question[]): Promise<Answer[]> {
  return await askGoProgram("test/oracle/kube", questions, (line): Answer => JSON.parse(line));
}
