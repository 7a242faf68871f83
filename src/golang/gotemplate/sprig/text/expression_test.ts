import assert from "node:assert/strict";
import { re2Library } from "../../../re2.ts";
import { Expression } from "./expression.ts";

await re2Library.loaded();

Deno.test("an expression finds leftmost matches, with groups and their names", () => {
  const expression = new Expression("(?P<first>a)(b)?|(?P<last>c)");
  assert.deepEqual(expression.names, ["first", "", "last"]);
  assert.deepEqual(expression.findAll("xabc", -1), [
    { index: 1, text: "ab", groups: ["a", "b", undefined] },
    { index: 3, text: "c", groups: [undefined, undefined, "c"] },
  ]);
  assert.deepEqual(expression.findAll("xabc", 1).map(({ text }) => text), ["ab"]);
  assert.equal(expression.matches("x"), false);
});

Deno.test("groups may share a name, even next to texts that only look like groups", () => {
  const { names } = new Expression(String.raw`(?P<n>a)[(?<x>](?<n>b)\Q(?<n>\E\((?P<group1_n>c)`);
  assert.deepEqual(names, ["n", "n", "group1_n"]);
  assert.deepEqual(new Expression("(?<group1_n>a)").names, ["group1_n"]);
  const twice = "(?P<n>a)(?P<n>b";
  assert.throws(() => new Expression(twice), { message: `error parsing regexp: missing closing ): \`${twice}\`` });
});

Deno.test("an empty match counts between characters, but not within a character and not after a match", () => {
  const indices = new Expression("a*").findAll("😀ab", -1).map(({ index }) => index);
  assert.deepEqual(indices, [0, 2, 4]);
});

const LONG = 30_000;

/** On each, a backtracking engine does not end. */
const RUNAWAY: readonly (readonly [pattern: string, subject: string, found: string | undefined])[] = [
  ["(a+)+$", "a".repeat(LONG) + "b", undefined],
  ["(?:a|aa)+$", "a".repeat(LONG) + "b", undefined],
  ["(a|a)*$", "a".repeat(LONG) + "b", ""],
  ["^(([a-z])+.)+[A-Z]([a-z])+$", "a".repeat(LONG), undefined],
  ["(.*)*x", "y".repeat(LONG), undefined],
  ["(x+x+)+y", "x".repeat(LONG), undefined],
  ["(?:a?){100}a{100}", "a".repeat(100), "a".repeat(100)],
  [".*.*.*=.*", "x".repeat(LONG), undefined],
  ["\\s+$", " ".repeat(200_000) + "x", undefined],
  ["([a-zA-Z0-9_.-]+@)?([a-z]+\\.)+[a-z]+!", "a.".repeat(LONG / 2), undefined],
];

Deno.test("expressions with exponential backtracking in other engines take linear time", () => {
  for (const [source, text, found] of RUNAWAY) {
    assert.equal(new Expression(source).findAll(text, 1)[0]?.text, found, source);
  }
});

Deno.test("repetitions of repetitions are limited as in Go, which also limits their program", () => {
  assert.throws(() => new Expression("((a{100}){10}){10}"), {
    message: "error parsing regexp: invalid repeat count: `{10}`",
  });
  assert.throws(
    () => new Expression(`(?:${"abcde".repeat(1000)}){1000}`),
    /^Error: error parsing regexp: expression too large/,
  );
});
