import assert from "node:assert/strict";
import { fakeWorld } from "../../../test/support/fake_world.ts";
import type { Answer } from "../answer_schema.ts";
import { answerText } from "./answer_picture.ts";
import { lookOf } from "./look.ts";
import type { Picture } from "./picture.ts";
import { CHARACTER, FONT } from "./paint.ts";
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

for (const columns of [1, 60, 80, 129, 130, 160, 200, 500]) {
  Deno.test(`at ${columns} columns no line is wider, and nothing of others reaches the terminal`, () => {
    const looks = [[true, "row"], [false, "row"], [false, "column"]] as const;
    for (
      const [picture, [ascii, boxesIn]] of [PICTURE, LONG_NAMES, WIDE_NAMES].flatMap((each) =>
        looks.map((look) => [each, look] as const)
      )
    ) {
      const text = terminalText({ ...picture, boxesIn }, { columns, color: false, ascii });
      const most = Math.min(200, Math.max(60, columns));
      for (const line of text.split("\n")) assert.ok(widthOf(line) <= most, line);
      const framed = text.split("\n").filter((line) => /^[│|]/.test(line));
      assert.deepEqual([...new Set(framed.map(widthOf))], [most]);
      // deno-lint-ignore no-control-regex -- these characters are not to be there
      assert.equal(/[\x00-\x09\x0b-\x1f\x7f-\x9f\u202e]/.test(text), false);
      // deno-lint-ignore no-control-regex -- ASCII
      if (ascii) assert.equal(/^[\x00-\x7f]*$/.test(text), true);
    }
  });
}

Deno.test("a lane without a note takes one line, even if notes are below their lanes", () => {
  const lane = {
    kind: "lane",
    mark: undefined,
    from: "every TCP port",
    via: "Envoy 15006",
    to: "application",
    note: "",
  } as const;
  const sections = [{ title: "Inbound", column: "left", rows: [lane, lane] } as const];
  const look = { columns: 60, color: false, ascii: true };
  const text = terminalText({ ...PICTURE, boxes: [], notes: [], sections }, look);
  assert.match(text, /\| - every TCP port .*\n\| - every TCP port /);
});

Deno.test("a note is beside its lane if it fits there in one line, else below it", () => {
  const lane = { kind: "lane", mark: undefined, via: "", from: "UDP", to: "network" } as const;
  const notes = ["listens on ::", "traffic.sidecar.istio.io/excludeOutboundPorts"];
  const sections = [{ title: "Outbound", column: "left", rows: notes.map((note) => ({ ...lane, note })) } as const];
  const text = terminalText({ ...PICTURE, boxes: [], notes: [], sections }, { columns: 60, color: false, ascii: true });
  assert.match(text, /- UDP -+> network {2}listens on ::/);
  assert.match(text, /- UDP -+> network +\|\n\| {5}traffic\.sidecar\.istio\.io\/excludeOutboundPorts +\|/);
});

Deno.test("a title too long for the frame's edge is wrapped within the frame", () => {
  const title = `${"a".repeat(63)} to ${"b".repeat(63)}`;
  const text = terminalText({ ...PICTURE, title }, { columns: 80, color: false, ascii: true });
  assert.match(text, /^\+-+\+\n\| a{63} to +\|\n\| b{63} +\|\n/);
});

Deno.test("of a text with a mark, only the mark has a colour", () => {
  const notes = [{ mark: "warning", text: "slow", fix: "" }] as const;
  const text = terminalText({ ...PICTURE, notes }, { columns: 80, color: true, ascii: true });
  assert.equal(text.split("\n").at(-2), "\x1b[33m!\x1b[39m slow");
});

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

/** Returns a picture in which every text is `name`. */
function pictureOf(name: string): Picture {
  return {
    boxesIn: "row",
    title: `pod ${name}/${name} to ${name}.${name}.svc.cluster.local:8080`,
    subtitle: Array.from({ length: 4 }, () => name).join(", "),
    boxesTitle: "Containers in start order",
    boxes: Array.from({ length: 5 }, (_, at) => ({ title: `${at + 1} ${name}`, mark: "ok", lines: [name, name] })),
    sections: [
      {
        title: `Inbound traffic (${name})`,
        column: "left",
        rows: [
          { kind: "lane", mark: "ok", from: `65535/TCP ${name}`, via: "Envoy 15006", to: name, note: name },
          { kind: "lane", mark: "warning", from: name, via: "", to: name, note: name },
        ],
      },
      { title: name, column: "right", rows: [{ kind: "fact", mark: "ok", label: name, text: `${name} ${name}` }] },
    ],
    notes: [{ mark: "error", text: `${name} ${name} ${name}`, fix: `${name} ${name} ${name}` }],
  };
}

/** The longest name that Kubernetes allows. */
const LONG = "n".repeat(63);
/** Characters that are two columns wide, which an HTTP path may contain. */
const WIDE = "漢かカー、。Ａ한🚀".repeat(7);
const [LONG_NAMES, WIDE_NAMES] = [pictureOf(LONG), pictureOf(WIDE)];

/** Returns the width of a line in columns. East Asian characters and emoji count twice. */
function widthOf(line: string): number {
  return [...line].reduce((width, character) => width + (WIDE.includes(character) ? 2 : 1), 0);
}

type Edges = readonly [left: number, top: number, right: number, bottom: number];

/** Returns the edges of an element. The width of a text follows from the width of the font's characters. */
function edgesOf(element: string): Edges {
  const number = (name: string) => Number(new RegExp(`[ "]${name}="([\\d.]+)"`).exec(element)?.[1]);
  const words = />([^<]*)<\/text>/.exec(element)?.[1];
  const [x, y] = [number("x"), number("y")];
  if (words === undefined) return [x, y, x + number("width"), y + number("height")];
  const isTitle = element.includes('class="title"');
  return [x, y - 10, x + widthOf(words) * (isTitle ? CHARACTER * 16 / FONT : CHARACTER), y];
}

const IN_BOXES = [
  ["names of 63 characters", LONG, "row"],
  ["names of 63 characters", LONG, "column"],
  ["wide characters", WIDE, "row"],
  ["wide characters", WIDE, "column"],
] as const;

for (const [what, name, boxesIn] of IN_BOXES) {
  Deno.test(`with ${what} and boxes in a ${boxesIn}, no text of an SVG leaves its box or meets another one`, () => {
    const picture = pictureOf(name);
    const svg = svgText({ ...picture, boxesIn });
    const texts = [...svg.matchAll(/<text [^>]*>[^<]*<\/text>/g)].map(([element]) => element);
    const boxes = [...svg.matchAll(/<rect [^>]*rx="[^>]*>/g)].map(([element]) => edgesOf(element));
    assert.ok(texts.length > 30 && boxes.length >= 6, svg);
    for (const at of picture.boxes.keys()) {
      assert.ok(svg.includes(`>${at + 1} ${name.slice(0, 8)}`), "a name is seen");
    }
    for (const element of texts) assert.ok(edgesOf(element)[2] <= 1080 - 16 + 1, element);
    for (const element of texts) for (const box of boxes) assertInside(element, box);
    for (const [at, element] of texts.entries()) for (const other of texts.slice(at + 1)) assertApart(element, other);
  });
}

function assertInside(element: string, [left, top, edge, below]: Edges): void {
  const [x, y, right, bottom] = edgesOf(element);
  if (x > left && x < edge && y > top && y < below) assert.ok(right <= edge && bottom <= below, element);
}

function assertApart(element: string, other: string): void {
  const [[x, y, right, bottom], [left, top, edge, below]] = [edgesOf(element), edgesOf(other)];
  assert.ok(x >= edge || left >= right || y >= below || top >= bottom, `${element} meets ${other}`);
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

Deno.test("in an SVG, a fix is indented below its problem", () => {
  const svg = svgText({ ...PICTURE, notes: [{ mark: "error", text: "it is broken", fix: "mend it" }] });
  const startOf = (words: string) => Number(new RegExp(` x="([\\d.]+)"[^>]*>${words}<`).exec(svg)?.[1]);
  assert.equal(startOf("× it is broken"), 16);
  assert.equal(startOf("fix: mend it"), 31.7);
});

Deno.test("wrap() breaks at blanks, and cuts longer words", () => {
  assert.deepEqual(wrap("aa bb cccc", 5), ["aa bb", "cccc"]);
  assert.deepEqual(wrap("abcdefgh ij", 3), ["abc", "def", "gh", "ij"]);
  assert.deepEqual(wrap("", 5), [""]);
  assert.deepEqual(wrap("漢字 漢字漢字a", 5), ["漢字", "漢字", "漢字a"]);
  assert.deepEqual(wrap("漢字", 1), ["漢", "字"]);
});

const WELL_STATION = { kind: "dns", pod: "shop/a", side: "client", name: "", source: "seen", result: "ok" } as const;

function longAnswer(): Answer {
  const station = (kind: Answer["stations"][number]["kind"], more: object = {}) => ({
    ...WELL_STATION,
    message: `message of ${kind}`,
    detail: { limits: ["requests 5"] },
    ...more,
    kind,
  });
  return {
    pod: "shop/a",
    direction: "outbound",
    verdict: "refused",
    reason: "It is refused",
    fix: "",
    stations: [
      station("application"),
      station("dns"),
      station("kernel"),
      station("cluster", { result: "error" }),
      station("pod", { side: "server", pod: "shop/b" }),
      station("port", { side: "server", pod: "shop/b" }),
    ],
    clusters: [],
    endpoints: [],
  };
}

Deno.test("a terminal with too few rows joins stations without a problem; -o wide shows all stations", () => {
  const look = { columns: 80, color: false, ascii: true };
  const shown = { asked: { direction: "outbound", host: "web", port: 80, path: "/" } as const, isWide: false };
  const low = answerText(longAnswer(), { ...shown, look: { ...look, rows: 12 } });
  assert.match(low, /\n\| \+ 1-3 +application, dns, kernel: ok +\|\n\| x 4 cluster +message of cluster \(seen\)/);
  assert.match(low, /\n\| \+ 5-6 +pod, port: ok +\|\n/);
  assert(low.endsWith("-o wide shows all stations\n"));
  const high = answerText(longAnswer(), { ...shown, look: { ...look, rows: 40 } });
  assert.equal(high, answerText(longAnswer(), { ...shown, look }));
  assert.match(high, /2 dns +message of dns/);
  const wide = answerText(longAnswer(), { ...shown, isWide: true, look: { ...look, rows: 12 } });
  assert.match(wide, /4 cluster +message of cluster \(seen\) +\|\n\| +limits: requests 5/);
});
