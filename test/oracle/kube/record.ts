/**
 * Writes the cases for the tests of src/kube, with answers from Kubernetes' Go code:
 *
 *     tools/deno run -A test/oracle/kube/record.ts
 */
import { writeAnswers } from "../answers.ts";
import { fc } from "../../support/properties.ts";
import { decodeQuestions, quantityQuestions, selectorQuestions } from "./other_questions.ts";
import { mergeQuestion, ruleQuestions } from "./merge_questions.ts";
import { askOracle, type Question } from "./oracle.ts";

const TESTDATA = new URL("../../../src/kube/testdata/", import.meta.url);

async function record(file: string, questions: Question[]): Promise<void> {
  const answers = await askOracle(questions);
  const lines = questions.map((question, index) => JSON.stringify({ ...question, answer: answers[index] }));
  await Deno.writeTextFile(new URL(file, TESTDATA), lines.join("\n") + "\n");
}

await Deno.mkdir(TESTDATA, { recursive: true });
await record("merge.jsonl", [...ruleQuestions(), ...fc.sample(mergeQuestion, { numRuns: 160, seed: 1 })]);
await record("decode.jsonl", decodeQuestions());
await record("quantity.jsonl", quantityQuestions());
await record("selector.jsonl", selectorQuestions());
const kinds = [
  "Pod",
  "Deployment",
  "DaemonSet",
  "ReplicaSet",
  "StatefulSet",
  "Job",
  "CronJob",
  "ReplicationController",
];
await writeAnswers(
  new URL("schema.jsonl.gz", TESTDATA),
  await askOracle(kinds.map((type) => ({ op: "schema", type }))),
);
