/** Outputs of releases with `templates`, from 1.12 on, to our own cases: test/oracle/legacy recorded them. */
import assert from "node:assert/strict";
import { differences, documents } from "../oracle/inject/compare.ts";
import { type Answer, Ours } from "../oracle/inject/question.ts";
import { LATER_CASES } from "../oracle/legacy/later_cases.ts";
import { type LegacyAnswer, readLegacyAnswers } from "../oracle/legacy/recorded.ts";

/** Differences on purpose: docs/inject.md names them. */
const KNOWN = [
  {
    reason: "fields of a pod that the release's version of Kubernetes lacks stay, where Istio drops them",
    shows: /^(?:a native sidecar of the user, with a probe, 1\.1[26]|probes of every kind, .*, 1\.12)$/,
    difference: /restartPolicy|grpc/,
  },
];

Deno.test("changeStream: our own cases get what 1.12, 1.16, 1.22 and 1.26 answered", async () => {
  const answers = await readLegacyAnswers("later");
  assert.deepEqual(answers.map(({ name }) => name), LATER_CASES.map(({ name }) => name), "record the answers again");
  const ours = new Ours();
  const wrong: string[] = [];
  const seen = new Set<object>();
  for (const [index, one] of LATER_CASES.entries()) {
    const found = compared(answers[index] ?? { name: "" }, await ours.answer(one));
    const known = KNOWN.filter(({ shows }) => shows.test(one.name));
    if (found.length > 0) for (const each of known) seen.add(each);
    const left = found.filter((text) => !known.some(({ difference }) => difference.test(text)));
    wrong.push(...left.map((text) => `${one.name}: ${text}`));
  }
  assert.deepEqual(wrong.slice(0, 20), [], `${wrong.length} differences`);
  assert.deepEqual(KNOWN.filter((each) => !seen.has(each)).map(({ reason }) => reason), [], "known, but not seen");
});

function compared({ output = "", error }: LegacyAnswer, ours: Answer): readonly string[] {
  if (error !== undefined) return "error" in ours ? [] : [`only Istio answers with an error: ${error}`];
  return "error" in ours ? [`an error: ${ours.error}`] : differences(documents(output), ours.documents);
}
