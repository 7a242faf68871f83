/** Istio's outputs for all cases, our own and the shared ones, with the public interface of the injector. */
import assert from "node:assert/strict";
import { decode } from "../../src/kube/mod.ts";
import { workloadType } from "../support/workload_type.ts";
import { isList, isMap, type Value } from "../../src/base/value.ts";
import { parseDocument, splitText } from "../../src/yaml/mod.ts";
import { injection } from "../../src/inject/mod.ts";
import { changedText } from "../support/changed_text.ts";
import { comparable } from "../support/cases/comparable.ts";
import { type InjectCase, injectCases, injectorOf } from "../support/cases/inject.ts";

Deno.test("changeStream gives what Istio gives", async (t) => {
  const cases = await injectCases();
  for (const item of cases) await t.step(item.name, () => replay(item));
});

async function replay(item: InjectCase): Promise<void> {
  if (item.fails) {
    const failed = await inject(item).then(({ failures }) => failures > 0, () => true);
    return assert.ok(failed, "an input in error was accepted");
  }
  const { text, failures } = await inject(item);
  assert.equal(failures, 0);
  assert.deepEqual(documents(text), documents(item.expected));
  const again = await inject(item, text);
  assert.equal(again.text, text, "a second injection changes the output");
}

async function inject(item: InjectCase, input = item.input): Promise<{ text: string; failures: number }> {
  const { text, entries } = await changedText(input, injection(injectorOf(item, true)));
  return { text, failures: entries.filter(({ result }) => result === "failed").length };
}

/** The documents as typed objects, for comparison by value. */
function documents(text: string): unknown[] {
  return splitText(text, "").map((doc) => parseDocument(doc).value).filter((value) => value !== null).map(document);
}

function document(value: Value): unknown {
  if (!isMap(value)) return value;
  if (value["kind"] === "List") return isList(value["items"]) ? value["items"].map(document) : [];
  const type = workloadType(String(value["kind"]));
  if (type === undefined) return comparable(value);
  const { status: _, ...typed } = decode(value, type).value;
  return comparable(typed);
}
