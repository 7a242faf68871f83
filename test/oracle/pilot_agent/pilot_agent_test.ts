/** Traffic capture and bootstraps equal the answers of Istio's pilot-agent, which record.ts recorded. */
import assert from "node:assert/strict";
import { type AgentCase, runAgentCase } from "../../support/cases/agent.ts";
import { type CaptureCase, captureSettings, captureText } from "../../support/cases/capture.ts";
import { needsShared, SHARED } from "../../support/test_when.ts";
import { readAnswers } from "../answers.ts";
import { BOOTSTRAPS, namedBootstraps } from "./own/bootstraps.ts";
import { CAPTURES, namedCaptures } from "./own/captures.ts";
import { bootstrapQuestions, captureQuestions } from "./questions.ts";
import {
  BOOTSTRAP_FILE,
  type BootstrapAnswer,
  CAPTURE_FILE,
  type CaptureAnswer,
  NAMED_BOOTSTRAP_FILE,
  NAMED_CAPTURE_FILE,
} from "./recorded.ts";

/** The recorded questions must equal the asked questions. */
function sameQuestions(asked: readonly unknown[], answers: readonly { readonly question: string }[]): void {
  assert.deepEqual(answers.map(({ question }) => question), asked.map((one) => JSON.stringify(one)), "record again");
}

/** Compares rules; returns the questions that pilot-agent failed. */
async function compareCaptures<Case extends CaptureCase>(asked: readonly Case[], file: URL): Promise<readonly Case[]> {
  const answers = await readAnswers<CaptureAnswer>(file);
  sameQuestions(asked, answers);
  return asked.filter((one, index) => {
    const text = answers[index]?.text;
    if (text !== undefined) assert.equal(captureText(one), text, JSON.stringify(one));
    return text === undefined;
  });
}

/** Compares arguments and bootstraps; returns the questions that pilot-agent failed, which this program has to fail too. */
async function compareBootstraps(
  asked: readonly AgentCase[],
  file: URL,
  newer: (index: number, recorded: string) => string = (_, recorded) => recorded,
): Promise<readonly AgentCase[]> {
  const answers = await readAnswers<BootstrapAnswer>(file);
  sameQuestions(asked, answers);
  const failed: AgentCase[] = [];
  for (const [index, one] of asked.entries()) {
    const { args, bootstrap } = answers[index] ?? {};
    if (args === undefined || bootstrap === undefined) {
      failed.push(one);
      await assert.rejects(runAgentCase(one), { name: /^(?:Mesh|Usage)Error$/ }, JSON.stringify(one));
      continue;
    }
    const ours = await runAgentCase(one);
    assert.deepEqual(ours.args.map(plainPath), args.map(plainPath), JSON.stringify(one));
    assert.equal(ours.bootstrap, newer(index, bootstrap), JSON.stringify(one));
  }
  return failed;
}

Deno.test("the rules of traffic capture equal pilot-agent's, line by line", async () => {
  const asked = captureQuestions();
  const failed = await compareCaptures(asked, CAPTURE_FILE);
  // A dry run of nft applies its rules; the kernel rejects some.
  assert.ok(failed.length < asked.length / 20, `pilot-agent failed ${failed.length} times`);
});

Deno.test("Envoy's arguments and bootstrap equal pilot-agent's", async () => {
  await compareBootstraps(bootstrapQuestions(), BOOTSTRAP_FILE);
});

Deno.test("the rules of the named cases equal pilot-agent's, and its errors are errors", async () => {
  const asked = namedCaptures();
  const failed = await compareCaptures(asked, NAMED_CAPTURE_FILE);
  for (const one of failed) assert.notDeepEqual(captureSettings(one).problems, [], JSON.stringify(one));
  const wrong = CAPTURES.filter(({ fails }) => fails === true).flatMap((
    { name },
  ) => [`${name}, iptables`, `${name}, nft`]);
  assert.deepEqual(failed.map(({ name }) => name), wrong);
});

Deno.test("the bootstraps of the named cases equal pilot-agent's, and its errors are errors", async () => {
  const asked = namedBootstraps();
  const failed = await compareBootstraps(asked, NAMED_BOOTSTRAP_FILE, (index, recorded) => {
    const [from, to] = BOOTSTRAPS[index]?.newer ?? ["", ""];
    assert.ok(recorded.includes(from));
    return recorded.replace(from, to);
  });
  const names = failed.map((one) => BOOTSTRAPS[asked.indexOf(one)]?.name);
  assert.deepEqual(names, BOOTSTRAPS.filter(({ fails }) => fails === true).map(({ name }) => name));
});

/** Shared cases whose text is not a plan: test/e2e/iptables/cleanup_test.ts runs them in the kernel. */
const CLEANUP = ["extra-iptables/cleanup-default", "extra-iptables/cleanup-redirect"];

Deno.test("a named case stands beside each shared case", async () => {
  const captures = CAPTURES.flatMap(({ like }) => like).toSorted();
  const bootstraps = BOOTSTRAPS.flatMap(({ like }) => like).toSorted();
  assert.ok(captures.length >= 38 && bootstraps.length >= 62);
  if (needsShared("cases") !== undefined) return;
  const cases: { name: string }[] = JSON.parse(await Deno.readTextFile(`${SHARED}/cases/iptables/cases.json`));
  const names = new Set(cases.map(({ name }) => name.replace("nft/", "iptables/")));
  assert.deepEqual(captures, [...names].filter((name) => !CLEANUP.includes(name)).toSorted());
  const folders = await Array.fromAsync(Deno.readDir(`${SHARED}/cases/bootstrap`), ({ name }) => name);
  assert.deepEqual(bootstraps, folders.toSorted());
});

function plainPath(arg: string): string {
  return arg.replace(/^\.\//, "");
}
