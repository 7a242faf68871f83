/**
 * Small manifests that each show a mistake once found on public ones: `inject`, `check injection -f`, and `uninject`, which
 * gives back every byte.
 */
import assert from "node:assert/strict";
import { configurationOf, injection, newInjector, uninjection } from "../../src/inject/mod.ts";
import { CORPUS } from "../support/cases/manifests.ts";
import { changedText } from "../support/changed_text.ts";
import { checkVerdicts } from "../support/check_verdicts.ts";

interface Expected {
  /** Results of `inject`; of documents that can be written, it gives back the bytes. */
  readonly results: readonly string[];
  readonly verdicts: readonly string[];
  /** Parts of the warnings and errors of `inject`, in order. */
  readonly says?: readonly string[];
  /** Injection writes values as Istio reads them, with a warning: `uninject` does not know the text before. */
  readonly isConverted?: true;
  /** Parts of the warnings of `uninject`. */
  readonly undoubted?: readonly string[];
}

const INJECTED = { results: ["injected"], verdicts: ["injected"] };
const KNATIVE = "Knative rejects init containers";

const FILES: Readonly<Record<string, Expected>> = {
  "anchors.yaml": { results: ["injected", "injected", "skipped"], verdicts: ["injected", "injected"] },
  "deployment-config.yaml": INJECTED,
  "gateway.yaml": { results: ["skipped"], verdicts: ["not-injected"] },
  "knative.yaml": { ...INJECTED, says: [KNATIVE] },
  "nulls.yaml": {
    results: ["injected", "injected"],
    verdicts: ["injected", "injected"],
    says: ["The Job never completes", "The CronJob never completes"],
  },
  "own-proxy.yaml": { results: ["injected", "injected"], verdicts: ["injected", "injected"] },
  "probes.yaml": {
    ...INJECTED,
    undoubted: ['spec.containers[0].readinessProbe.httpGet.port: stays 8080, but may have been the port\'s name "web"'],
  },
  "refused.yaml": {
    results: ["failed", "failed", "failed", "skipped"],
    verdicts: ["refused", "refused", "refused", "not-injected"],
    says: [
      "The Deployment has no containers",
      '"spec.selector" must be a mapping',
      '"spec.template.spec.containers" must be a list',
    ],
  },
  "spelling.yaml": {
    ...INJECTED,
    isConverted: true,
    says: [
      'line 9: spec.template.metadata.labels.cached: Kubernetes rejects true, which is a boolean, not a string; the output has "true"',
      'line 11: spec.template.spec.RestartPolicy: Kubernetes does not know the field "RestartPolicy"',
      'line 15: spec.template.spec.containers[0].args[0]: Kubernetes rejects 8080, which is a number, not a string; the output has "8080"',
    ],
  },
  "system-namespace.yaml": { results: ["skipped"], verdicts: ["not-injected"] },
  "unreadable.yaml": {
    results: ["injected", "failed", "injected"],
    verdicts: ["injected", "cannot-tell", "injected"],
    says: ["A map or list cannot be a key"],
  },
};

Deno.test("the corpus: each file has an expectation", () => {
  assert.deepEqual([...Deno.readDirSync(CORPUS)].map(({ name }) => name).sort(), Object.keys(FILES).sort());
});

for (const [name, { results, verdicts, says = [], undoubted = [], isConverted = false }] of Object.entries(FILES)) {
  Deno.test(`the corpus: ${name}`, async () => {
    const text = await Deno.readTextFile(`${CORPUS}/${name}`);
    const injector = newInjector({ ...configurationOf({}), byHand: true, env: () => undefined, now: () => new Date(0) });
    const { text: injected, entries } = await changedText(text, injection(injector));
    assert.deepEqual(entries.map(({ result }) => result), results);
    assert.deepEqual(await checkVerdicts(text, injector), verdicts);
    holds(entries.flatMap(({ warnings, error }) => [...warnings, ...error === undefined ? [] : [error.message]]), says);
    if (results.includes("failed")) return;
    assert.equal((await changedText(injected, injection(injector))).text, injected, "a second injection");
    const back = await changedText(injected, uninjection);
    if (!isConverted) assert.equal(back.text, text);
    holds(back.entries.flatMap(({ warnings }) => warnings), undoubted);
  });
}

function holds(texts: readonly string[], parts: readonly string[]): void {
  assert.equal(texts.length, parts.length, texts.join("\n"));
  parts.forEach((part, index) => assert.ok(texts[index]?.includes(part), texts[index]));
}
