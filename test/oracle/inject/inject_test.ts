/**
 * The injector gives Istio's answers, which record.ts recorded, to thousands of questions. A short run asks only every
 * tenth of most generated questions.
 */
import assert from "node:assert/strict";
import { isLong } from "../../support/long.ts";
import { testShared } from "../../support/test_when.ts";
import { differences } from "./compare.ts";
import { ISTIO_ERROR, KNOWN, OUR_ERROR, unknown } from "./known.ts";
import { type Answer, Ours, type Question } from "./question.ts";
import { type Origin, questions } from "./questions.ts";
import { readRecorded, RECORDED } from "./recorded.ts";

Deno.test("changeStream answers as Istio's IntoResourceFile: our own manifests and settings", () => compare("own"));

testShared(
  "cases/inject/cases.json",
  "changeStream answers as Istio's IntoResourceFile: shared manifests and settings",
  () => compare("shared"),
);

async function compare(origin: Origin): Promise<void> {
  const asked = questions(RECORDED, origin);
  const recorded = await readRecorded(origin);
  assert.deepEqual(asked.map(({ name }) => name), recorded.map(({ name }) => name), "record the answers again");
  const ours = new Ours();
  const wrong: string[] = [];
  const seen = new Set<number>();
  for (const [index, question] of asked.entries()) {
    if (index % 10 !== 0 && !isLong() && isOneOfMany(question)) continue;
    const found = compared(recorded[index]?.answer ?? { error: "" }, await ours.answer(question));
    if (found.length > 0) KNOWN.forEach(({ shows }, known) => shows(question) && seen.add(known));
    wrong.push(...unknown(question, found).map((text) => `${question.name}: ${text}`));
  }
  assert.deepEqual(wrong.slice(0, 20), [], `${wrong.length} differences`);
  assert.deepEqual(KNOWN.filter((_, index) => !seen.has(index)).map(({ reason }) => reason), [], "known, but not seen");
}

/** Whether a question is generated and shows no known difference. Hundreds of questions are like it. */
function isOneOfMany(question: Question): boolean {
  return question.name.startsWith("generated ") && !KNOWN.some(({ shows }) => shows(question));
}

function compared(istio: Answer, ours: Answer): readonly string[] {
  if ("error" in istio) return "error" in ours ? messageProblems(ours.error) : [`${ISTIO_ERROR}: ${istio.error}`];
  return "error" in ours ? [`${OUR_ERROR}: ${ours.error}`] : differences(istio.documents, ours.documents);
}

/** Error texts may differ, but must not be empty. */
function messageProblems(message: string): readonly string[] {
  return message.trim() === "" ? ["an error without a message"] : [];
}
