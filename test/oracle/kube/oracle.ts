import { askGoProgram } from "../../support/programs/go_program.ts";
import type { Value, ValueMap } from "../../../src/base/value.ts";

/** A question to the Go program beside this file; its comment says what each operation answers. */
export type Question =
  | { op: "merge"; type: string; original: ValueMap; patch: ValueMap }
  | { op: "decode"; type: string; text: string }
  | { op: "quantity"; text: string }
  | { op: "compare"; text: string; other: string }
  | { op: "schema"; type: string }
  | { op: "selector"; original: Value; patch: Value };

/** What Kubernetes' Go code answers. */
export interface Answer {
  readonly result?: Value;
  readonly error?: string;
}

/** Asks the Go program of this folder; one answer for each question. */
export async function askOracle(questions: readonly Question[]): Promise<Answer[]> {
  return await askGoProgram("test/oracle/kube", questions, (line): Answer => JSON.parse(line));
}
