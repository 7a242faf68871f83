/** Traffic capture and bootstraps equal the answers of Istio's pilot-agent, which record.ts recorded. */
import assert from "node:assert/strict";
import { runAgentCase } from "../../support/cases/agent.ts";
import { captureText } from "../../support/cases/capture.ts";
import { readAnswers } from "../answers.ts";
import { bootstrapQuestions, captureQuestions } from "./questions.ts";
import { BOOTSTRAP_FILE, type BootstrapAnswer, CAPTURE_FILE, type CaptureAnswer } from "./recorded.ts";

/** The questions that are recorded are those that are asked. */
function sameQuestions(asked: readonly unknown[], answers: readonly { readonly question: string }[]): void {
  assert.deepEqual(answers.map(({ question }) => question), asked.map((one) => JSON.stringify(one)), "record again");
}

Deno.test("the rules of traffic capture equal pilot-agent's, line by line", async () => {
  const asked = captureQuestions();
  const answers = await readAnswers<CaptureAnswer>(CAPTURE_FILE);
  sameQuestions(asked, answers);
  let failed = 0;
  for (const [index, one] of asked.entries()) {
    const text = answers[index]?.text;
    if (text === undefined) failed++;
    else assert.equal(captureText(one), text, JSON.stringify(one));
  }
  assert.ok(failed < asked.length / 20, `pilot-agent failed ${failed} times`);
});

Deno.test("Envoy's arguments and bootstrap equal pilot-agent's", async () => {
  const asked = bootstrapQuestions();
  const answers = await readAnswers<BootstrapAnswer>(BOOTSTRAP_FILE);
  sameQuestions(asked, answers);
  for (const [index, one] of asked.entries()) {
    const { args, bootstrap } = answers[index] ?? {};
    if (args === undefined || bootstrap === undefined) {
      await assert.rejects(runAgentCase(one), { name: /^(?:Mesh|Usage)Error$/ }, JSON.stringify(one));
      continue;
    }
    const ours = await runAgentCase(one);
    assert.deepEqual(ours.args.map(plainPath), args.map(plainPath), JSON.stringify(one));
    assert.equal(ours.bootstrap, bootstrap, JSON.stringify(one));
  }
});

function plainPath(word: string): string {
  return word.replace(/^\.\//, "");
}
