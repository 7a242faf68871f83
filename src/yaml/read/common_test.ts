import assert from "node:assert/strict";
import { fc } from "../../../test/support/properties.ts";
import { composeCommon, parseCommon } from "./common.ts";
import { compose, type Composition } from "./compose.ts";
import { parseYaml } from "./parse.ts";
import { toYaml } from "../write/to_yaml.ts";

/** Returns the result of `compose`; `undefined` if `compose` rejects the text. */
function composed(text: string): Composition | undefined {
  try {
    return compose(text, 100);
  } catch {
    return undefined;
  }
}

function assertSame(text: string): boolean {
  const common = composeCommon(text);
  if (common !== undefined) assert.deepEqual(common, composed(text), JSON.stringify(text));
  return common !== undefined;
}

const COMMON: readonly string[] = [
  "a: 1\nb: [x, 'y', \"z\", {k: v, l: [1]}]\nc: {}\nd: []\n",
  "a:\n  b:\n  - c\n  - d: 1\n    e: 2\n  -\n    f: 1\n  - - x\n    - y\n  -   g: 1\n      h:\n  -\ni: # none\n# end\n",
  "a: |\n  x\n\n   y\n  z\n\nb: |-\n\n  x\n\nc: |+\n  x\n\n\nd:\n- |\n  # text\n# comment\n- x\n",
  "a: http://x:80/#y # comment\nb: a#b\nc: x   # y\nd: -1\ne: -x\nf: yes\ng: 0o17\nh: 1e3\ni: ~\n",
  "- a\n-   b\n- c: [ a , b ]\n  d: { k: v , l: a:b }\n",
  '{"a": {"b": [1, "x",\n"y\\n\\"z\\\\"], "c":true},\n\n  "d": []\n}\n# end\n',
  "[\n  a, {b: c}\n]\n",
  "a: 'it''s'\nb: \"\\n\\t\"\nc: ''\n",
  "a:\n  []\nb:\n- \n  x\n-\n  'y'\nc:\n  d\n",
  "a:\n  b: {\n    c: 1,\n    d: [x,\n\n   y, ],\n   }\n",
  "- [a,\n b]\n",
  "'quoted key': 1\n\"x/y\": 'it is'\na.b/c: \"\"\n",
  "a: 1\nb: {c: 1, c: 2}\na: 3\n",
  "a:\n- b\n-\n- c\nd:\n\n   # indented comment\n\n  e: f\n",
];

for (const text of COMMON) {
  Deno.test(`composeCommon() reads ${JSON.stringify(text.slice(0, 40))} as compose() does`, () => {
    assert.ok(assertSame(text), "is not of the common kind");
  });
}

const UNCOMMON: readonly string[] = [
  "",
  "# nothing\n",
  "a: b\n  c\n",
  "a: 'b\n  c'\n",
  "a: b: c\n",
  "a: &x 1\nb: *x\n",
  "a: !!str 1\n",
  "a: >\n  x\n",
  "a: |2\n   x\n",
  "a: |\nb: 1\n",
  "a: [1,\n2]\n",
  "a: {\n  b: 1\n}\n",
  "a: [b: c]\n",
  'a: "\\x41"\n',
  "{a: 1, # comment\nb: 2}\n",
  "[a\nb]\n",
  "[\n...\n]\n",
  "<<: {a: 1}\n",
  "yes: 1\n",
  "1: 2\n",
  "? a\n: b\n",
  "a: 1\n b: 2\n",
  "  a: 1\n b: 2\n",
  "a:\n    b: 1\n  c: 2\n",
  "a: 1\n- b\n",
  "- a\nb: 1\n",
  "a: 1\r\n",
  "a:\t1\n",
  "a: .inf\n",
  "a\n",
  "%YAML 1.1\n---\na: 1\n",
  "a: 1\n...\nb: 2\n",
  "a: {b: 1} c\n",
  "a: |\n     \n  x\n",
  "a: |\n    x\n  y\n",
];

for (const text of UNCOMMON) {
  Deno.test(`composeCommon() leaves ${JSON.stringify(text)} to compose()`, () => {
    assert.equal(composeCommon(text), undefined);
  });
}

const key = fc.constantFrom("a", "b", "name", "x/y", "a.b-c", "yes", "0", "with space", "");
const scalar = fc.oneof(
  fc.constantFrom(
    "",
    "a",
    "x: y",
    "x #y",
    " lead",
    "l1\nl2",
    "l1\n\n  l2\n",
    "l\n\n",
    "-",
    "- a",
    "{",
    "it's",
    "\\",
    "é",
    "#",
    ":",
    "a:",
  ),
  fc.string({ maxLength: 6 }),
  fc.integer(),
  fc.boolean(),
  fc.constant(null),
);
const { tree } = fc.letrec((tie) => ({
  tree: fc.oneof(
    { maxDepth: 4, withCrossShrink: true },
    scalar,
    fc.array(tie("tree"), { maxLength: 3 }),
    fc.uniqueArray(fc.tuple(key, tie("tree")), { maxLength: 4, selector: ([name]) => name }).map(Object.fromEntries),
  ),
}));
const options = fc.record({ listIndent: fc.constantFrom(0, 2, 4), step: fc.constantFrom(2, 3, 4) });

Deno.test("composeCommon() reads generated documents as compose() does", () => {
  let common = 0;
  fc.assert(
    fc.property(tree, options, (value, layout) => {
      // A tree of fast-check is JSON, which is a Value.
      common += Number(assertSame(toYaml(value as Parameters<typeof toYaml>[0], layout)));
    }),
    { numRuns: 300 },
  );
  assert.ok(common > 50, `only ${common} of them are of the common kind`);
});

const PIECES = [
  "a: ",
  "b:",
  "- ",
  "-",
  "\n",
  "\n  ",
  "\n    ",
  " ",
  "  ",
  "x",
  "1",
  "'q'",
  '"q"',
  "|",
  "|-",
  "|+",
  "# c",
  " #",
  "{",
  "}",
  "[",
  "]",
  ", ",
  ",",
  ": ",
  ":",
];
const soup = fc.array(fc.constantFrom(...PIECES), { maxLength: 25 }).map((pieces) => `${pieces.join("")}\n`);

Deno.test("composeCommon() reads no text differently than compose()", () => {
  fc.assert(fc.property(soup, (text) => void assertSame(text)), { numRuns: 3000 });
});

const line = fc.tuple(
  fc.nat(6),
  fc.constantFrom(
    "a: 1",
    "b:",
    "- x",
    "- a: 1",
    "-",
    "",
    "# c",
    "c: |",
    "d: |-",
    "- |+",
    "text",
    "e: {a: 1}",
    "f: [a]",
  ),
);
const lines = fc.array(line, { maxLength: 12 })
  .map((list) => list.map(([indent, text]) => `${" ".repeat(indent)}${text}\n`).join(""));

Deno.test("composeCommon() reads no lines differently than compose()", () => {
  fc.assert(fc.property(lines, (text) => void assertSame(text)), { numRuns: 3000 });
});

Deno.test("parseCommon() ignores indentation between brackets", () => {
  assert.deepEqual(parseCommon("a: [\n1, 2\n]"), parseYaml("a: [1, 2]"));
  assert.equal(parseCommon("a: [\n1, 2\n] b"), undefined);
  assert.equal(parseCommon(""), undefined);
});
