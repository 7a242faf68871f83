import assert from "node:assert/strict";
import type { Value } from "../base/value.ts";
import { parseYaml } from "../yaml/mod.ts";
import type { Answer, Question } from "../../test/oracle/kube/oracle.ts";
import { decode } from "./decode/decode.ts";
import { canonicalQuantity } from "./text/quantity.ts";
import { selectorMatches } from "./text/selector.ts";
import { strategicMerge } from "./patch/strategic_merge.ts";
import { toGoJson } from "./view/typed_json.ts";

type Case = Question & { answer: Answer };

Deno.test("strategicMerge: results and errors of Kubernetes' own merge, recorded", () => {
  for (const item of read("merge.jsonl")) {
    assert(item.op === "merge");
    // Kubernetes rejects an element order for two empty lists. This program accepts it, because the order is harmless.
    if (item.answer.error === "no elements in any of the given slices") continue;
    const input = JSON.stringify([item.original, item.patch]);
    assert.deepEqual(plain(merged(item)), plain(withoutNullMap(item.answer)), JSON.stringify(item));
    assert.equal(JSON.stringify([item.original, item.patch]), input, "an argument was changed");
  }
});

Deno.test("decode: the object that sigs.k8s.io/yaml and json.Marshal make of a document, recorded", () => {
  for (const item of read("decode.jsonl")) {
    assert(item.op === "decode");
    const { value, problems } = decode(parseYaml(item.text), item.type);
    assert.equal(problems.length > 0, item.answer.error !== undefined, `${item.text}: ${JSON.stringify(problems)}`);
    if (item.answer.error !== undefined) continue;
    assert.equal(toGoJson(value, item.type), item.answer.result, item.text);
  }
});

Deno.test("canonicalQuantity: the text that Kubernetes writes, recorded", () => {
  for (const item of read("quantity.jsonl")) {
    assert(item.op === "quantity");
    const expected = item.text in BEYOND_SUFFIXES ? BEYOND_SUFFIXES[item.text] : item.answer.result;
    assert.equal(canonicalQuantity(item.text), expected, JSON.stringify(item));
  }
});

Deno.test("selectorMatches: matches and errors of LabelSelectorAsSelector, recorded", () => {
  for (const item of read("selector.jsonl")) {
    assert(item.op === "selector");
    const { matches, problem } = selectorMatches(item.original, Object(item.patch));
    assert.equal(problem !== undefined, item.answer.error !== undefined, JSON.stringify(item));
    assert.equal(matches, item.answer.result ?? false, JSON.stringify(item));
  }
});

/** Kubernetes writes `1` for 1000E, because it has no suffix for 10^21. This program writes the correct number. */
const BEYOND_SUFFIXES: Readonly<Record<string, string>> = { "1000E": "1e21" };

function read(file: string): Case[] {
  const text = Deno.readTextFileSync(new URL(`testdata/${file}`, import.meta.url));
  return text.trimEnd().split("\n").map((line) => JSON.parse(line));
}

function merged(question: Question & { op: "merge" }): Answer {
  try {
    return { result: strategicMerge(question.original, question.patch, question.type) };
  } catch (error) {
    return { error: error instanceof Error ? error.message : String(error) };
  }
}

/** Restores an empty result, which the oracle leaves out. */
function withoutNullMap(answer: Answer): Answer {
  return answer.error === undefined && answer.result === undefined ? { result: {} } : answer;
}

function plain(value: unknown): Value {
  return JSON.parse(JSON.stringify(value));
}
