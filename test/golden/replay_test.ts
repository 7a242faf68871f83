/** Istio's own outputs: every case of ../shared/cases/inject through the public interface of the injector. */
import assert from "node:assert/strict";
import { decode, workloadType } from "../../src/core/kube/mod.ts";
import { isList, isMap, type Value } from "../../src/core/value.ts";
import { parseDocument, splitText } from "../../src/core/yaml/mod.ts";
import { injectStream, loadInjector } from "../../src/inject/mod.ts";
import { comparable } from "../support/comparable.ts";
import { needsShared, SHARED, testWhen } from "../support/test_when.ts";

const CASES = `${SHARED}/cases/inject`;

interface Case {
  readonly name: string;
  readonly native: boolean;
  readonly rc?: number;
  readonly revision?: string;
  readonly config: string;
  readonly values?: string;
  readonly mesh?: string;
  readonly input: string;
  readonly expected: string;
  readonly env?: Readonly<Record<string, string>>;
}

testWhen(needsShared("cases/inject/cases.json"), "injectStream gives what Istio gives", async (t) => {
  const cases: Case[] = JSON.parse(await Deno.readTextFile(`${CASES}/cases.json`));
  for (const item of cases) await t.step(item.name, () => replay(item));
});

async function replay(item: Case): Promise<void> {
  if ((item.rc ?? 0) !== 0) {
    const failed = await inject(item).then(({ failures }) => failures > 0, () => true);
    return assert.ok(failed, "an input in error was accepted");
  }
  const { text, failures } = await inject(item);
  assert.equal(failures, 0);
  assert.deepEqual(documents(text), documents(read(item.expected)));
  const again = await inject(item, text);
  assert.equal(again.text, text, "a second injection changes the output");
}

function read(path: string): string {
  return Deno.readTextFileSync(`${CASES}/${path}`);
}

async function inject(item: Case, input = read(item.input)): Promise<{ text: string; failures: number }> {
  const source = (path: string) => ({ text: read(path), file: path });
  const injector = loadInjector({
    config: source(item.config),
    values: item.values === undefined ? undefined : source(item.values),
    mesh: item.mesh === undefined ? undefined : source(item.mesh),
    revision: item.revision ?? "default",
    nativeSidecars: item.native,
    byHand: true,
    env: (name) => item.env?.[name],
    now: () => new Date(0),
  });
  let text = "";
  const sink = { write: (part: string) => void (text += part), report: () => {} };
  const chunks = async function* () {
    yield new TextEncoder().encode(input);
  };
  const summary = await injectStream([{ file: item.input, chunks }], injector, { output: "yaml", sink });
  return { text, failures: summary.failed };
}

/** The documents as Kubernetes would hold them, in a form that is compared by value. */
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
