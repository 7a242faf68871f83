import assert from "node:assert/strict";
import { fc } from "../../support/properties.ts";
import { editDocument, parseDocument, splitText, toYaml } from "../../../src/yaml/mod.ts";
import { sameValue } from "../../../src/base/values/mod.ts";
import { MeshError } from "../../../src/base/errors.ts";
import { newMap, type Value } from "../../../src/base/value.ts";
import { needsProgram, testWhen } from "../../support/test_when.ts";
import { pair, style, value, withComments } from "./arbitrary.ts";
import { HOSTILE } from "./hostile.ts";
import { type Answer, ask, exactJson } from "./oracle.ts";

const missing = needsProgram("go");
const SAMPLES = 600;

function plain(data: Value): unknown {
  return JSON.parse(JSON.stringify(data, (_, item) => typeof item === "bigint" ? Number(item) : item));
}

function reads(answer: Answer | undefined, expected: Value): boolean {
  return answer?.json !== undefined && sameValue(exactJson(answer.json), expected);
}

testWhen(missing, "toYaml() of generated values is read back by kubectl's library", async () => {
  const samples = fc.sample(fc.tuple(value, style), SAMPLES);
  const texts = samples.map(([data, options]) => toYaml(data, options));
  const answers = await ask(texts.map((read) => ({ read })));
  samples.forEach(([data], index) =>
    assert.ok(reads(answers[index], data), JSON.stringify([texts[index], answers[index]]))
  );
});

testWhen(missing, "toYaml() of every hostile text as value and key is read back by kubectl's library", async () => {
  const values = HOSTILE.map((text) => mapOf([[text, [text, mapOf([["v", text]])]]]));
  const answers = await ask(values.map((data) => ({ read: toYaml(data) })));
  values.forEach((data, index) => assert.ok(reads(answers[index], data), toYaml(data)));
});

testWhen(missing, "parseDocument() reads what kubectl's library writes and reads", async () => {
  // In a list: readers differ on the indentation of a literal block that is the whole document.
  const samples = fc.sample(value, SAMPLES).map((data) => [plain(data)]);
  const answers = await ask(samples.map((write) => ({ write })));
  const texts = answers.map((answer) => answer.yaml ?? "");
  const back = await ask(texts.map((read) => ({ read })));
  back.forEach((answer, index) => {
    // go-yaml cannot read back some texts that it writes, such as a key `<<`: skip them.
    if (answer.json === undefined || /^\s*(?:- )*<<: /m.test(texts[index] ?? "")) return;
    // For go-yaml these are line breaks, as in YAML 1.1; the reader here follows 1.2, where they are text.
    if (/[\x85\u2028\u2029]/.test(texts[index] ?? "")) return;
    assert.ok(reads(answer, parseDocument({ text: texts[index] ?? "" }).value), JSON.stringify([texts[index], answer]));
  });
});

testWhen(missing, "editDocument() gives text that kubectl's library reads as the new value", async () => {
  const samples = fc.sample(fc.tuple(pair, style, fc.boolean()), SAMPLES).map(([[old, next], options, json], index) => {
    const block = index % 2 === 0 ? withComments(toYaml(old, options)) : toYaml(old, options);
    const text = json ? JSON.stringify(plain(old), null, index % 3) : block;
    return { text, next, edited: editDocument(parseDocument({ text }), next) };
  });
  // Kubernetes' document reader ends the last line in any case.
  const answers = await ask(samples.map(({ edited }) => ({ read: edited.replace(/\n?$/, "\n") })));
  samples.forEach((sample, index) =>
    assert.ok(reads(answers[index], sample.next), JSON.stringify([sample, answers[index]], bigints))
  );
});

testWhen(missing, "toYaml() with sorted keys is the text that kubectl's library writes", async () => {
  const key = fc.stringMatching(/^[a-zA-Z][a-zA-Z/._-]{0,4}[0-9]{0,3}$/);
  const maps = fc.sample(fc.dictionary(key, fc.integer(), { maxKeys: 8, noNullPrototype: true }), SAMPLES);
  const answers = await ask(maps.map((write) => ({ write })));
  maps.forEach((data, index) => {
    const text = toYaml(mapOf(Object.entries(data)), { sortKeys: true });
    assert.equal(text, answers[index]?.yaml);
  });
});

testWhen(missing, "splitText() splits as Kubernetes' reader does", async () => {
  const line = fc.constantFrom(
    "---\n",
    "--- # c\n",
    "---\r\n",
    "--- x\n",
    "a: 1\n",
    "\n",
    "# c\n",
    "  ---\n",
    "----\n",
    "a",
    "é\r\n",
  );
  const texts = fc.sample(fc.array(line, { maxLength: 8 }).map((lines) => lines.join("")), SAMPLES);
  const answers = await ask(texts.map((split) => ({ split })));
  texts.forEach((text, index) => assert.deepEqual(ourSplit(text), kubectlSplit(answers[index]), JSON.stringify(text)));
});

/** The documents that are not empty, with the line ends that kubectl's reader gives them; `undefined` if refused. */
function ourSplit(text: string): string[] | undefined {
  try {
    const texts = splitText(text, "").map((doc) => doc.text).filter((part) => part !== "");
    return texts.map((part) => part.replaceAll("\r\n", "\n").replace(/([^\n])$/, "$1\n"));
  } catch (error) {
    assert.ok(error instanceof MeshError);
    return undefined;
  }
}

/** kubectl's reader keeps a leading separator in the text of the document. */
function kubectlSplit(answer: Answer | undefined): readonly string[] | undefined {
  if (answer?.error !== undefined) return undefined;
  return answer?.documents?.map((text) => text.replace(/^---.*\n/, "")).filter((text) => text !== "") ?? [];
}

function mapOf(entries: readonly [string, Value][]): Value {
  const map = newMap();
  for (const [key, item] of entries) map[key] = item;
  return map;
}

function bigints(_: string, item: unknown): unknown {
  return typeof item === "bigint" ? `${item}n` : item;
}

testWhen(missing, "parseDocument() reads flow collections however their lines are indented", async () => {
  const margins = fc.array(fc.nat({ max: 3 }), { minLength: 1, maxLength: 7 });
  const texts = fc.sample(fc.tuple(value, margins), SAMPLES).map(([data, columns]) => {
    const lines = JSON.stringify([plain(data)], null, 2).split("\n");
    const moved = lines.map((line, index) => " ".repeat(columns[index % columns.length] ?? 0) + line.trimStart());
    return `x:\n  a: ${moved.join("\n").trimStart()}\n  b: 1\n`;
  });
  const answers = await ask(texts.map((read) => ({ read })));
  answers.forEach((answer, index) => {
    if (answer.json === undefined) return;
    assert.ok(reads(answer, parseDocument({ text: texts[index] ?? "" }).value), JSON.stringify([texts[index], answer]));
  });
  assert.ok(answers.filter(({ json }) => json !== undefined).length > SAMPLES / 2);
});
