import assert from "node:assert/strict";
import { fakeWorld } from "../../../test/support/fake_world.ts";
import { lookOf } from "./look.ts";
import type { Picture } from "./picture.ts";
import { svgText } from "./svg.ts";
import { terminalText } from "./terminal.ts";
import { wrap } from "./wrap.ts";

const HOSTILE = "a\x1b[31m<script>&\u202e\x07\nb";

const PICTURE: Picture = {
  boxesIn: "row",
  title: `pod ${HOSTILE}`,
  subtitle: HOSTILE,
  boxesTitle: `${HOSTILE} ${"b ".repeat(200)}`,
  boxes: Array.from(
    { length: 7 },
    (_, at) => ({ title: `${at} ${HOSTILE}`, mark: "error", lines: [HOSTILE, "x".repeat(300)] }),
  ),
  sections: [
    {
      title: `${HOSTILE} ${"t ".repeat(200)}`,
      column: "left",
      rows: [
        { kind: "lane", mark: "ok", from: "y".repeat(100), via: "Envoy 15006", to: "z".repeat(100), note: HOSTILE },
        { kind: "lane", mark: undefined, from: HOSTILE, via: "", to: "b", note: "" },
      ],
    },
    {
      title: "facts",
      column: "right",
      rows: [{ kind: "fact", mark: "warning", label: HOSTILE, text: "w".repeat(500) }],
    },
  ],
  notes: [{ mark: "unknown", text: HOSTILE, fix: HOSTILE }],
};

for (const columns of [1, 60, 80, 129, 130, 160, 500]) {
  Deno.test(`at ${columns} columns no line is wider, and nothing of others reaches the terminal`, () => {
    for (const [ascii, boxesIn] of [[true, "row"], [false, "row"], [false, "column"]] as const) {
      const text = terminalText({ ...PICTURE, boxesIn }, { columns, color: false, ascii });
      const most = Math.min(200, Math.max(60, columns));
      for (const line of text.split("\n")) assert.ok([...line].length <= most, line);
      // deno-lint-ignore no-control-regex -- these characters are not to be there
      assert.equal(/[\x00-\x09\x0b-\x1f\x7f-\x9f\u202e]/.test(text), false);
      // deno-lint-ignore no-control-regex -- ASCII
      if (ascii) assert.equal(/^[\x00-\x7f]*$/.test(text), true);
    }
  });
}

Deno.test("colours change no column", () => {
  const look = { columns: 80, ascii: false };
  const [plain, colored] = [
    terminalText(PICTURE, { ...look, color: false }),
    terminalText(PICTURE, { ...look, color: true }),
  ];
  assert.notEqual(plain, colored);
  // deno-lint-ignore no-control-regex -- colours
  assert.equal(colored.replaceAll(/\x1b\[\d+m/g, ""), plain);
});

for (const boxesIn of ["row", "column"] as const) {
  Deno.test(`an SVG with boxes in a ${boxesIn} escapes what others wrote, and has neither script nor references`, () => {
    const svg = svgText({ ...PICTURE, boxesIn });
    assert.equal(svg.includes("<script"), false);
    assert.equal(/href|url\((?!#)|@import|@font-face/.test(svg), false);
    // deno-lint-ignore no-control-regex -- these characters are not to be there
    assert.equal(/[\x00-\x09\x0b-\x1f\x7f-\x9f\u202e]/.test(svg), false);
    assert.match(svg, /&lt;script&gt;&amp;/);
    assert.match(svg, /prefers-color-scheme: dark/);
    const open = [...svg.matchAll(/<(text|svg|defs|marker|style|title)\b[^>]*>/g)].length;
    assert.equal(open, [...svg.matchAll(/<\/(text|svg|defs|marker|style|title)>/g)].length);
  });
}

const LOOKS: readonly [env: Record<string, string>, terminal: boolean, expected: string][] = [
  [{ LANG: "de_DE.UTF-8" }, true, "120 color unicode"],
  [{ LANG: "C.utf8", NO_COLOR: "1" }, true, "120 plain unicode"],
  [{ LANG: "de_DE.UTF-8", LC_ALL: "C" }, true, "120 color ascii"],
  [{ LANG: "C.UTF-8", TERM: "dumb" }, true, "120 plain ascii"],
  [{}, true, "120 color ascii"],
  [{ LANG: "C.UTF-8", COLUMNS: "100" }, false, "100 plain unicode"],
  [{ LANG: "C.UTF-8", COLUMNS: "x" }, false, "80 plain unicode"],
];

for (const [env, terminal, expected] of LOOKS) {
  Deno.test(`lookOf() with ${JSON.stringify(env)}${terminal ? " on a terminal" : ""}`, () => {
    const world = fakeWorld({ env, terminal, ...terminal ? { columns: 120 } : {} });
    const { columns, color, ascii } = lookOf(world);
    assert.equal(`${columns} ${color ? "color" : "plain"} ${ascii ? "ascii" : "unicode"}`, expected);
  });
}

Deno.test("wrap() breaks at blanks, and cuts longer words", () => {
  assert.deepEqual(wrap("aa bb cccc", 5), ["aa bb", "cccc"]);
  assert.deepEqual(wrap("abcdefgh ij", 3), ["abc", "def", "gh", "ij"]);
  assert.deepEqual(wrap("", 5), [""]);
});
