/** Generated regular expressions give the same results in our sprig functions and in Go. */
import assert from "node:assert/strict";
import { parse } from "../../../src/golang/gotemplate/mod.ts";
import { loadLibraries, sprigFunctions } from "../../../src/golang/gotemplate/sprig/mod.ts";
import { fc } from "../../support/properties.ts";
import { needsProgram, testWhen } from "../../support/test_when.ts";
import { askGo, type GoAnswer } from "./go.ts";
import { pattern, subject } from "./patterns.ts";

const COUNT = 4000;
const template =
  '{{ range regexFindAll .p .s -1 }}{{ . | toJson }}{{ end }}|{{ regexReplaceAll .p .s "<$0,$1,$2,$3,${n}>" }}' +
  "|{{ regexSplit .p .s -1 | toJson }}|{{ regexMatch .p .s }}";
await loadLibraries(template);
const parsed = parse("t", template, { funcs: sprigFunctions({ now: () => new Date() }) });

function ours(data: { readonly p: string; readonly s: string }): GoAnswer {
  try {
    return { out: parsed.render(data).toWellFormed() };
  } catch (error) {
    return { error: error instanceof Error ? error.message : String(error) };
  }
}

testWhen(needsProgram("go"), "regular expressions: generated ones give what Go gives", async () => {
  const samples = fc.sample(fc.record({ p: pattern, s: subject }), COUNT);
  const answers = await askGo(samples.map((data) => ({ name: "t", template, data })));
  const wrong = samples
    .map((data, i) => ({ data, go: answers[i], ours: ours(data) }))
    .filter(({ go, ours }) => go?.out !== ours.out || go?.error !== ours.error);
  assert.deepEqual(wrong, []);
});
