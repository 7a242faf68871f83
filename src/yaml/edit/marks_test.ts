import assert from "node:assert/strict";
import { parseDocument, parseYaml } from "../read/parse.ts";
import { editDocument } from "./edit.ts";

/** A name, the text before, the new value as YAML, and the text with marks. Restoring gives the text before. */
type Case = readonly [name: string, before: string, next: string, marked: string];

const CASES: readonly Case[] = [
  [
    "a map whose anchor has another alias",
    "a: &x\n  k: 1\nb: *x\nc: *x # c\n",
    "{a: {k: 1}, b: {k: 1}, c: {k: 1, l: 2}}",
    "a: &x\n  k: 1\nb: *x\nc: &was-x # c\n  k: 1\n  l: 2\n",
  ],
  [
    "scalars get different names",
    "a: &x 1\nb: *x\nc: *x\n",
    "{a: 1, b: 2, c: 3}",
    "a: &x 1\nb: &was-x 2\nc: &was2-x 3\n",
  ],
  [
    "inside braces",
    "a: &x 1\nb: {c: *x, d: [*x]}\n",
    "{a: 1, b: {c: 2, d: [1]}}",
    "a: &x 1\nb: {c: &was-x 2, d: [*x]}\n",
  ],
  ["a text of several lines", "a: &x s\nb: *x\n", '{a: s, b: "t\\nu\\n"}', "a: &x s\nb: &was-x |\n  t\n  u\n"],
  [
    "an item",
    "a: &x {k: 1}\nb:\n- *x\n- 2\n",
    "{a: {k: 1}, b: [{k: 3}, 2]}",
    "a: &x {k: 1}\nb:\n- &was-x\n  k: 3\n- 2\n",
  ],
  ["the anchor's own value", "a: &x 1 # a\nb: *x\n", "{a: 2, b: 1}", "a: &x 2 # a\nb: &was-x 1\n"],
  [
    "the value of a map around the anchor",
    "a: &x {p: &y 1}\nb: *x\nc: *y\n",
    "{a: {p: 2}, b: {p: 3}, c: 1}",
    "a: &x {p: &y 2}\nb: &was-x\n  p: 3\nc: &was-y 1\n",
  ],
];

for (const [name, before, next, marked] of CASES) {
  Deno.test(`editDocument() marks a replaced alias, and restores it: ${name}`, () => {
    const parsed = parseDocument({ text: before });
    const text = editDocument(parsed, parseYaml(next), { aliases: "mark" });
    assert.equal(text, marked);
    assert.equal(editDocument(parseDocument({ text }), parsed.value, { aliases: "restore" }), before);
  });
}

Deno.test("editDocument() restores 10,000 aliases of one anchor in linear time", () => {
  const text = `a: &x 1\nb:\n${"- c: *x\n".repeat(10_000)}`;
  const parsed = parseDocument({ text });
  const next = parseYaml(text.replaceAll("*x", "2"));
  const marked = editDocument(parsed, next, { aliases: "mark" });
  assert.equal(marked.match(/&was\d*-x 2/g)?.length, 10_000);
  assert.equal(editDocument(parseDocument({ text: marked }), parsed.value, { aliases: "restore" }), text);
});

const KEPT: readonly (readonly [name: string, before: string, next: string, after: string])[] = [
  ["a value without a mark", "a: &x {k: 1}\nb: *x\nc: {k: 2}\n", "{a: {k: 1}, b: {k: 1}, c: {k: 1}}", "c: {k: 1}\n"],
  ["the anchor has another value", "a: &x 1\nc: &was-x 3\n", "{a: 1, c: 2}", "c: &was-x 2\n"],
  ["the anchor is removed", "a: &x 1\nc: &was-x 3\n", "{c: 1}", "c: &was-x 1\n"],
  ["the anchor comes later", "c: &was-x 3\na: &x 1\n", "{c: 1, a: 1}", "c: &was-x 1\na: &x 1\n"],
  ["a later anchor of the same name", "a: &x 1\nb: &x 2\nc: &was-x 3\n", "{a: 1, b: 2, c: 1}", "c: &was-x 1\n"],
  [
    "an alias refers to the mark",
    "a: &x 1\nc: &was-x 3\nd: *was-x\n",
    "{a: 1, c: 1, d: 1}",
    "c: &was-x 1\nd: 1\n",
  ],
];

for (const [name, before, next, end] of KEPT) {
  Deno.test(`editDocument() restores no alias: ${name}`, () => {
    const edited = editDocument(parseDocument({ text: before }), parseYaml(next), { aliases: "restore" });
    assert.ok(edited.endsWith(end), edited);
    assert.deepEqual(parseYaml(edited), parseYaml(next));
  });
}
