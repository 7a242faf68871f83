import assert from "node:assert/strict";
import { pattern, subject } from "../../../../../test/oracle/sprig/patterns.ts";
import { fc } from "../../../../../test/support/properties.ts";
import { isForBacktracking, waysToMatch } from "./cost.ts";
import { backtrackingFind, Expression, type Find, linearFind, type Match } from "./expression.ts";
import { parseExpression } from "./syntax.ts";

/** What each start in a text leads to. */
function findEverywhere(find: Find, text: string): (Match | undefined)[] {
  return Array.from({ length: text.length + 1 }, (_, at) => at)
    .filter((at) => at === 0 || (text.codePointAt(at - 1) ?? 0) <= 0xffff)
    .map((at) => find(text, at));
}

Deno.test("both engines find the same where JavaScript's may run", () => {
  let compared = 0;
  fc.assert(
    fc.property(pattern.filter(isRight), subject, (source, text) => {
      const { tree, names } = parseExpression(source);
      if (!isForBacktracking(tree, text.length)) return;
      compared++;
      assert.deepEqual(
        findEverywhere(linearFind(tree, names.length), text),
        findEverywhere(backtrackingFind(tree), text),
        JSON.stringify({ source, text }),
      );
    }),
    { numRuns: 3000 },
  );
  assert(compared > 1000, `only ${compared} expressions were compared`);
});

/** Names must differ, and repetitions must not be too many. */
function isRight(source: string): boolean {
  try {
    parseExpression(source);
    return true;
  } catch {
    return false;
  }
}

const LONG = 30_000;

/** Each takes JavaScript's engine longer than anyone waits. */
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

Deno.test("expressions that backtrack without end in JavaScript come to an end", () => {
  for (const [source, text, found] of RUNAWAY) {
    assert.equal(new Expression(source).find(text, 0)?.text, found, source);
  }
});

Deno.test("what costs little runs in JavaScript's engine, what could cost much does not", () => {
  const cases: [string, number, boolean][] = [
    ["^[a-z0-9]([-a-z0-9]*[a-z0-9])?$", 63, true],
    ["istio-proxy", 1_000_000, true],
    ["^v?\\d+\\.\\d+\\.\\d+", 20, true],
    ["a.*b", 1000, true],
    ["a.*b", 100_000, false],
    ["(?:a+)+", 63, false],
    ["(?:a|b)*", 63, false],
    ["(?:a|b){3}", 63, true],
    ["(?:a{1000})b{1000}", 10_000, true],
    ["(?:abcdef){1000}", 10, false],
  ];
  for (const [source, length, expected] of cases) {
    assert.equal(isForBacktracking(parseExpression(source).tree, length), expected, source);
  }
});

Deno.test("what JavaScript matches otherwise than Go never runs in its engine", () => {
  for (const source of ["(|a)*", "(?:|a)?", "(a)+", "(?:(a)|b){2}", "(?:a*)*", "(?:^)*", "(?:a??)+"]) {
    assert.equal(waysToMatch(parseExpression(source).tree, 1), Infinity, source);
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
