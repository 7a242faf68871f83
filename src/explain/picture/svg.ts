/**
 * Prints a picture as one SVG file. It follows the reader's light or dark setting, and has colours in programs other
 * than browsers. Text can be selected. It needs no script and no downloaded font.
 */
import { textWidth, visible } from "../../base/text/mod.ts";
import { CHARACTER, FONT, painted, type PaintName, svgPage } from "./paint.ts";
import { type Box, type FactRow, type LaneRow, MARKS, type Note, type Picture, type Section } from "./picture.ts";
import { cut, wrap } from "./wrap.ts";

/** Width of the picture, in pixels. */
const WIDTH = 1080;
const TITLE_FONT = 16;
const LINE = 20;
const PAD = 16;

function markOf(mark: Box["mark"]): string {
  return mark === undefined ? "·" : MARKS[mark];
}

interface Drawn {
  readonly elements: readonly string[];
  readonly height: number;
}

/** Returns the SVG file of a picture. */
export function svgText(picture: Picture): string {
  const { title, subtitle, boxesTitle, boxesIn, boxes, sections, notes } = picture;
  const inner = WIDTH - 2 * PAD;
  const half = (inner - PAD) / 2;
  const head = headLines(title, subtitle, inner);
  const row = boxes.length === 0
    ? { elements: [], height: 0 }
    : (boxesIn === "row" ? boxRow : boxColumn)(boxesTitle, boxes, { y: head.height, width: inner });
  const top = head.height + row.height + PAD;
  const column = (name: Section["column"], x: number) =>
    stacked(
      sections.filter((each) => each.column === name && each.rows.length > 0),
      top,
      (each, y) => section(each, { x, y, width: half }),
    );
  const [left, right] = [column("left", PAD), column("right", PAD + half + PAD)];
  const below = top + Math.max(left.height, right.height) + PAD;
  const last = stacked(notes, below, (note, y) => noteLines(note, y, inner));
  const height = below + last.height + PAD;
  return svgPage({ title: escaped(title), width: WIDTH, height }, [
    `<defs>${TIPS.map(tip).join("")}</defs>`,
    ...head.elements,
    ...row.elements,
    ...left.elements,
    ...right.elements,
    ...last.elements,
  ]);
}

const TIPS = ["capturedTip", "bypassTip", "linkTip"] as const satisfies readonly PaintName[];

function tip(name: typeof TIPS[number]): string {
  return `<marker id="${name}" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="8" markerHeight="8" markerUnits="userSpaceOnUse" orient="auto"><path${
    painted(name)
  } d="M0 0L8 4L0 8z"/></marker>`;
}

function headLines(title: string, subtitle: string, width: number): Drawn {
  const titles = wrapped(title, width * FONT / TITLE_FONT, "title");
  const below = 28 + (titles.length - 1) * (LINE + 2);
  const subtitles = wrapped(subtitle, width, "faint");
  return {
    elements: [...texts(PAD, 28, titles, LINE + 2), ...texts(PAD, below + 22, subtitles)],
    height: below + 18 + subtitles.length * LINE,
  };
}

/** Draws a title, and the boxes below it with `draw`. */
function titled(
  title: string,
  { y, width }: { readonly y: number; readonly width: number },
  draw: (y: number) => Drawn,
): Drawn {
  const lines = wrapped(title, width, "head");
  const drawn = draw(y + lines.length * LINE + 6);
  return {
    elements: [...texts(PAD, y + 14, lines), ...drawn.elements],
    height: drawn.height + lines.length * LINE + 6,
  };
}

function stacked<T>(items: readonly T[], top: number, draw: (item: T, y: number, at: number) => Drawn): Drawn {
  const elements: string[] = [];
  let y = top;
  for (const [at, item] of items.entries()) {
    const drawn = draw(item, y, at);
    elements.push(...drawn.elements);
    y += drawn.height;
  }
  return { elements, height: y - top };
}

const MAX_IN_ROW = 4;
const BETWEEN = 28;

function boxRow(
  title: string,
  boxes: readonly Box[],
  { y, width }: { readonly y: number; readonly width: number },
): Drawn {
  const count = Math.min(MAX_IN_ROW, boxes.length);
  const each = Math.min(340, (width - BETWEEN * (count - 1)) / count);
  const rows = Array.from(
    { length: Math.ceil(boxes.length / count) },
    (_, at) => boxes.slice(at * count, at * count + count),
  );
  return titled(title, { y, width }, (below) =>
    stacked(rows, below, (row, top) => {
      const contents = row.map((box) => boxLines(box, each - 20));
      const height = Math.max(...contents.map((lines) => lines.length)) * LINE + 36;
      const elements = row.flatMap((box, at) => {
        const x = PAD + at * (each + BETWEEN);
        const edge = x + each;
        const link = at === row.length - 1
          ? []
          : [line(edge + 4, top + height / 2, { to: edge + BETWEEN - 4, name: "link" })];
        return [
          `<rect${paintOf(box)} x="${x}" y="${top}" width="${each}" height="${height}" rx="6"/>`,
          text(x + 10, top + 20, shortened(box.title, each - 20), "head"),
          ...texts(x + 10, top + 42, contents[at] ?? []),
          ...link,
        ];
      });
      return { elements, height: height + 12 };
    }));
}

function paintOf({ mark }: Box): string {
  return painted(mark === "error" ? "bad" : "box");
}

const ABOVE = 22;

/** Draws stacked boxes, with their titles on the left. */
function boxColumn(
  title: string,
  boxes: readonly Box[],
  { y, width }: { readonly y: number; readonly width: number },
): Drawn {
  const titles = Math.min(width / 3, Math.max(...boxes.map((box) => lengthOf(box.title))) * CHARACTER + 24);
  return titled(title, { y, width }, (below) =>
    stacked(boxes, below, (box, top, at) => {
      const isLast = at === boxes.length - 1;
      const shown = { ...box, lines: box.lines.filter((words) => words !== "") };
      const lines = boxLines(shown, width - titles - 20);
      const height = lines.length * LINE + 12;
      const middle = PAD + 30;
      const link = `<line${painted("link")} x1="${middle}" y1="${top + height + 3}" x2="${middle}" y2="${
        top + height + ABOVE - 4
      }" marker-end="url(#linkTip)"/>`;
      const elements = [
        `<rect${paintOf(box)} x="${PAD}" y="${top}" width="${width}" height="${height}" rx="6"/>`,
        text(PAD + 10, top + 20, shortened(box.title, titles - 20), "head"),
        ...texts(PAD + titles, top + 20, lines),
        ...isLast ? [] : [link],
      ];
      return { elements, height: height + (isLast ? 12 : ABOVE) };
    }));
}

function boxLines({ lines, mark }: Box, width: number): Styled[] {
  const last = lines.at(-1) ?? "";
  return [
    ...lines.slice(0, -1).flatMap((each) => wrapped(each, width, "faint")),
    ...wrapped(`${markOf(mark)} ${last}`, width, mark ?? "text"),
  ];
}

interface Area {
  readonly x: number;
  readonly y: number;
  readonly width: number;
}

/** Maximum length of a label in characters. An IPv6 address with its port has 47. */
const MAX_LABEL = 47;

function section({ title, rows }: Section, { x, y, width }: Area): Drawn {
  const facts = rows.filter((row) => row.kind === "fact");
  const labels = Math.min(MAX_LABEL, Math.max(0, ...facts.map(({ label }) => lengthOf(label))));
  const heads = wrapped(title, width, "head");
  const drawn = stacked(
    rows,
    y + 8 + heads.length * LINE,
    (row, top) => row.kind === "lane" ? lane(row, { x, y: top, width }) : fact(row, labels, { x, y: top, width }),
  );
  return {
    elements: [...texts(x, y + 14, heads), ...drawn.elements],
    height: drawn.height + 8 + (heads.length + 0.8) * LINE,
  };
}

function fact({ label, text: value, mark }: FactRow, labels: number, { x, y, width }: Area): Drawn {
  const indent = (labels + 4) * CHARACTER;
  const lines = wrapped(value, width - indent, mark ?? "text");
  return {
    elements: [
      text(x, y + 14, markOf(mark), mark ?? "faint"),
      text(x + 2 * CHARACTER, y + 14, shortened(label, labels * CHARACTER + 1), "faint"),
      ...texts(x + indent, y + 14, lines),
    ],
    height: lines.length * LINE,
  };
}

/** Start of the second part of a lane, as a fraction of the width. */
const VIA = 0.44;
const TO = 0.76;

function lane({ mark, from, via, to, note }: LaneRow, { x, y, width }: Area): Drawn {
  const [viaX, toX] = [x + VIA * width, x + TO * width];
  const froms = wrapped(from, VIA * width - 60, "text");
  const start = x + (2.5 + lengthOf(froms[0]?.words ?? "")) * CHARACTER;
  const middle = y + 10;
  const viaWidth = lengthOf(via) * CHARACTER + 14;
  const arrow = via === "" ? [line(start + 6, middle, { to: toX - 6, name: "bypass" })] : [
    line(start + 6, middle, { to: viaX - 4, name: "captured" }),
    `<rect${painted("box")} x="${viaX}" y="${y + 1}" width="${viaWidth}" height="${LINE - 2}" rx="4"/>`,
    text(viaX + 7, y + 14, via, "text"),
    line(viaX + viaWidth + 4, middle, { to: toX - 6, name: "captured" }),
  ];
  const notes = note === "" ? [] : wrapped(note, width - 4 * CHARACTER, "faint");
  return {
    elements: [
      text(x, y + 14, markOf(mark), mark ?? "faint"),
      ...texts(x + 2 * CHARACTER, y + 14, froms),
      ...arrow,
      text(toX, y + 14, shortened(to, width * (1 - TO)), "text"),
      ...texts(x + 4 * CHARACTER, y + 14 + froms.length * LINE, notes),
    ],
    height: (froms.length + notes.length) * LINE + 4,
  };
}

function noteLines({ mark, text: words, fix }: Note, y: number, width: number): Drawn {
  const indent = 2 * CHARACTER;
  const lines = wrapped(`${MARKS[mark]} ${words}`, width, mark);
  const fixes = fix === "" ? [] : wrapped(`fix: ${fix}`, width - indent, "text");
  return {
    elements: [...texts(PAD, y + 14, lines), ...texts(PAD + indent, y + 14 + lines.length * LINE, fixes)],
    height: (lines.length + fixes.length) * LINE + 4,
  };
}

function line(
  x: number,
  y: number,
  { to, name }: { readonly to: number; readonly name: "captured" | "bypass" | "link" },
): string {
  return `<line${painted(name)} x1="${round(x)}" y1="${round(y)}" x2="${round(Math.max(x + 8, to))}" y2="${
    round(y)
  }" marker-end="url(#${name}Tip)"/>`;
}

/** Draws a line of text. Draws nothing for an empty text. */
export function text(x: number, y: number, words: string, style: PaintName): string {
  if (words === "") return "";
  return `<text${painted(style)} x="${round(x)}" y="${round(y)}">${escaped(words)}</text>`;
}

/** A line of text and its style. */
interface Styled {
  readonly words: string;
  readonly style: PaintName;
}

/** Draws lines of text, the first one at `y`. */
function texts(x: number, y: number, lines: readonly Styled[], step = LINE): string[] {
  return lines.map(({ words, style }, at) => text(x, y + at * step, words, style));
}

function round(value: number): number {
  return Math.round(value * 10) / 10;
}

function wrapped(text: string, width: number, style: PaintName): Styled[] {
  return wrap(visible(text), columns(width)).map((words) => ({ words, style }));
}

function shortened(words: string, width: number): string {
  return cut(visible(words), columns(width));
}

function columns(width: number): number {
  return Math.max(4, Math.floor(width / CHARACTER));
}

/** Returns the width of a text in columns, as it is drawn. */
function lengthOf(words: string): number {
  return textWidth(visible(words));
}

const ENTITIES: Readonly<Record<string, string>> = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;" };

/** Escapes XML; `visible` replaces characters that XML does not allow. */
function escaped(words: string): string {
  return visible(words).replaceAll(/[&<>"]/g, (found) => ENTITIES[found] ?? found);
}
