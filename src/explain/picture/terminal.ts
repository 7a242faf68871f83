/** Prints a picture as text for a terminal, with box drawing characters or in ASCII. */
import colors from "picocolors";
import { textWidth, visible, wrappedBeforeCommand } from "../../base/text/mod.ts";
import type { Result } from "../summary/pod_summary_schema.ts";
import { type Box, type LaneRow, MARKS, type Note, type Picture, type Section } from "./picture.ts";
import { cut, wrap } from "./wrap.ts";

export interface Look {
  readonly columns: number;
  /** Number of rows of the terminal; `undefined` if unlimited. */
  readonly rows?: number | undefined;
  readonly color: boolean;
  readonly ascii: boolean;
}

type Paint = (text: string) => string;

/** Part of a line in one colour. */
interface Piece {
  readonly text: string;
  readonly paint: Paint | undefined;
}

type Line = readonly Piece[];

interface Glyphs {
  readonly corners: readonly [string, string, string, string];
  readonly across: string;
  readonly down: string;
  readonly arrow: string;
  readonly next: string;
  readonly dot: string;
  readonly marks: Readonly<Record<Result, string>>;
}

const UNICODE: Glyphs = {
  corners: ["┌", "┐", "└", "┘"],
  across: "─",
  down: "│",
  arrow: "▶",
  next: " → ",
  dot: "·",
  marks: MARKS,
};

const ASCII: Glyphs = {
  corners: ["+", "+", "+", "+"],
  across: "-",
  down: "|",
  arrow: ">",
  next: " > ",
  dot: "-",
  marks: { ok: "+", warning: "!", error: "x", unknown: "?" },
};

const NARROWEST = 60;
/** Maximum width in columns. Wider lines are hard to read. */
const WIDEST = 200;
/** Minimum width for sections in two columns. */
const TWO_COLUMNS = 130;

/** Minimum width of the text beside a label, including the mark and two spaces. */
const MIN_TEXT = 14;

/** Returns the text of a picture. Each line ends with a newline. */
export function terminalText(picture: Picture, look: Look): string {
  return new Drawing(look).whole(picture).map((line) => `${line}\n`).join("");
}

class Drawing {
  readonly #width: number;
  readonly #glyphs: Glyphs;
  readonly #palette: ReturnType<typeof colors.createColors>;
  readonly #ascii: boolean;

  constructor({ columns, color, ascii }: Look) {
    this.#width = Math.min(WIDEST, Math.max(NARROWEST, columns));
    this.#glyphs = ascii ? ASCII : UNICODE;
    this.#palette = colors.createColors(color);
    this.#ascii = ascii;
  }

  whole({ title, subtitle, boxesTitle, boxesIn, boxes, sections, notes }: Picture): string[] {
    const inner = this.#width - 4;
    const { bold, dim } = this.#palette;
    // A title of two long names does not fit in the edge.
    const isWide = textWidth(this.#safe(title)) > this.#width - 6;
    const content: Line[] = [
      ...isWide ? this.#wrapped(title, inner, bold) : [],
      ...subtitle === "" ? [] : this.#wrapped(subtitle, inner, dim),
      ...boxes.length === 0 ? [] : [
        [],
        ...this.#wrapped(boxesTitle, inner, bold),
        ...boxesIn === "row" ? this.#boxes(boxes, inner) : this.#column(boxes, inner),
      ],
      ...this.#sections(sections, inner),
    ];
    return [
      ...this.#frame(isWide ? "" : title, content, this.#width, bold).map((line) => this.#text(line)),
      ...notes.flatMap((note) => this.#note(note)),
    ];
  }

  #note({ mark, text, fix }: Note): string[] {
    const width = this.#width - 2;
    const lines = this.#marked(mark, [text], width).map((line) => this.#text(line));
    return fix === ""
      ? lines
      : [...lines, ...wrappedBeforeCommand(this.#safe(`fix: ${fix}`), width - 2, wrap).map((line) => `  ${line}`)];
  }

  /** Returns a frame around lines, with the title, if there is one, in the top edge. */
  #frame(title: string, content: readonly Line[], width: number, paint?: Paint): Line[] {
    const { corners: [a, b, c, d], across, down } = this.#glyphs;
    const named = cut(this.#safe(title), width - 6);
    const rest = width - 5 - textWidth(named);
    return [
      title === ""
        ? [plain(`${a}${across.repeat(width - 2)}${b}`)]
        : [plain(`${a}${across} `), { text: named, paint }, plain(` ${across.repeat(Math.max(0, rest))}${b}`)],
      ...content.map((line) => [plain(`${down} `), ...padded(line, width - 4), plain(` ${down}`)]),
      [plain(`${c}${across.repeat(width - 2)}${d}`)],
    ];
  }

  /** Returns stacked boxes without frames: each title, with its lines beside it. */
  #column(boxes: readonly Box[], width: number): Line[] {
    const titles = Math.max(...boxes.map(({ title }) => textWidth(this.#safe(title))));
    const labels = Math.min(titles, Math.floor(width / 3));
    return boxes.flatMap(({ title, mark, lines }) => {
      const label = this.#label(title, labels, this.#palette.bold);
      return this.#marked(mark, lines.filter((text) => text !== ""), width, label);
    });
  }

  /** Returns a label of this width, and two spaces after it. */
  #label(text: string, width: number, paint: Paint): Line {
    return [...padded([{ text: cut(this.#safe(text), width), paint }], width), plain("  ")];
  }

  /** Returns rows of boxes, with arrows between the boxes. */
  #boxes(boxes: readonly Box[], width: number): Line[] {
    const gap = textWidth(this.#glyphs.next);
    const most = Math.max(1, Math.floor((width + gap) / (24 + gap)));
    const rows = Math.ceil(boxes.length / most);
    const count = Math.ceil(boxes.length / rows);
    const each = Math.min(48, Math.floor((width - gap * (count - 1)) / count));
    const lines: Line[] = [];
    for (let at = 0; at < boxes.length; at += count) {
      const drawn = boxes.slice(at, at + count).map((box) => this.#boxContent(box, each - 4));
      const height = Math.max(...drawn.map(({ content }) => content.length));
      const framed = drawn.map(({ title, content }) => {
        const filled = [...content, ...Array.from({ length: height - content.length }, (): Line => [])];
        return this.#frame(title, filled, each);
      });
      lines.push(...this.#beside(framed));
    }
    return lines;
  }

  #boxContent({ title, mark, lines }: Box, width: number): { readonly title: string; readonly content: Line[] } {
    const last = lines.at(-1) ?? "";
    const content = lines.slice(0, -1).flatMap((line) => this.#wrapped(line, width, this.#palette.dim));
    return { title, content: [...content, ...this.#marked(mark, [last], width)] };
  }

  /** Returns boxes side by side, with arrows on the second line. */
  #beside(boxes: readonly (readonly Line[])[]): Line[] {
    const height = boxes[0]?.length ?? 0;
    const { next } = this.#glyphs;
    return Array.from({ length: height }, (_, row) =>
      boxes.flatMap((box, at): Line => {
        const space = row === 1 ? next : " ".repeat(textWidth(next));
        return [plain(at > 0 ? space : ""), ...box[row] ?? []];
      }));
  }

  #sections(sections: readonly Section[], width: number): Line[] {
    const drawn = (column: Section["column"], within: number) =>
      sections.filter((each) => each.column === column && each.rows.length > 0).flatMap((each) =>
        this.#section(each, within)
      );
    if (this.#width < TWO_COLUMNS) return [...drawn("left", width), ...drawn("right", width)];
    const half = Math.floor((width - 3) / 2);
    const [left, right] = [drawn("left", half), drawn("right", width - 3 - half)];
    return Array.from({ length: Math.max(left.length, right.length) }, (_, at) => [
      ...padded(left[at] ?? [], half + 3),
      ...right[at] ?? [],
    ]);
  }

  #section({ title, rows }: Section, width: number): Line[] {
    const lanes = rows.filter((row) => row.kind === "lane");
    const facts = rows.filter((row) => row.kind === "fact");
    const longest = Math.max(...facts.map(({ label }) => textWidth(this.#safe(label))));
    const labels = Math.min(width - MIN_TEXT, longest);
    return [
      [],
      ...this.#wrapped(title, width, this.#palette.bold),
      ...this.#lanes(lanes, width),
      ...facts.flatMap(({ mark, label, text }) => {
        const own = this.#label(label, labels, this.#palette.dim);
        return this.#marked(mark, [text], width, own);
      }),
    ];
  }

  /** Returns lanes such as `√ 8080/TCP ──▶ Envoy 15006 ──▶ app  listens`, with aligned columns. */
  #lanes(rows: readonly LaneRow[], width: number): Line[] {
    const most = (text: (row: LaneRow) => string) =>
      rows.reduce((length, row) => Math.max(length, textWidth(this.#safe(text(row)))), 0);
    const [vias, tos] = [most(({ via }) => via), Math.min(24, Math.floor(width / 4), most(({ to }) => to))];
    const froms = Math.min(most(({ from }) => from), Math.max(12, width - vias - tos - 16));
    return rows.flatMap((row) => this.#lane(row, { froms, vias, tos, width }));
  }

  #lane(row: LaneRow, { froms, vias, tos, width }: Record<"froms" | "vias" | "tos" | "width", number>): Line[] {
    const { across, arrow } = this.#glyphs;
    const line = (length: number) => `${across.repeat(Math.max(1, length - 1))}${arrow}`;
    const [first = "", ...rest] = wrap(this.#safe(row.from), froms);
    const via = this.#safe(row.via);
    const { green, yellow } = this.#palette;
    const fill = froms - textWidth(first);
    const link: Line = via === "" ? [{ text: line(fill + 3 + (vias === 0 ? 0 : vias + 5)), paint: yellow }] : [
      { text: line(fill + 3), paint: green },
      plain(" "),
      { text: via.padEnd(vias), paint: this.#palette.cyan },
      plain(" "),
      { text: line(3), paint: green },
    ];
    const to = cut(this.#safe(row.to), tos);
    const start: Line = [this.#mark(row.mark), plain(" "), plain(first), plain(" "), ...link, plain(" "), plain(to)];
    const used = widthOf(start) + tos - textWidth(to) + 2;
    const note = this.#safe(row.note);
    // A note that does not fit beside its lane gets the whole width below it.
    const isBeside = textWidth(note) <= Math.max(0, width - used);
    const below = isBeside ? [] : wrap(note, width - 4);
    const { dim } = this.#palette;
    return [
      [...start, plain(" ".repeat(tos - textWidth(to) + 2)), { text: isBeside ? note : "", paint: dim }],
      ...rest.map((text): Line => [plain(`  ${text}`)]),
      ...below.map((text): Line => [{ text: `    ${text}`, paint: dim }]),
    ];
  }

  /** Returns texts with a mark, and a label, before the first line. Only the mark has a colour: yellow text cannot be read on white. */
  #marked(mark: Result | undefined, texts: readonly string[], width: number, label: Line = []): Line[] {
    const indent = widthOf(label);
    return texts.flatMap((text) => wrap(this.#safe(text), width - 2 - indent)).map((text, at) => [
      ...at === 0 ? [this.#mark(mark), plain(" "), ...label] : [plain(" ".repeat(2 + indent))],
      plain(text),
    ]);
  }

  #wrapped(text: string, width: number, paint: Paint): Line[] {
    return wrap(this.#safe(text), width).map((line) => [{ text: line, paint }]);
  }

  #mark(mark: Result | undefined): Piece {
    return mark === undefined
      ? { text: this.#glyphs.dot, paint: this.#palette.dim }
      : { text: this.#glyphs.marks[mark], paint: this.#paintOf(mark) };
  }

  #paintOf(mark: Result): Paint {
    const { green, yellow, red } = this.#palette;
    return { ok: green, warning: yellow, error: red, unknown: yellow }[mark];
  }

  /** Escapes control characters; in ASCII mode, also all non-ASCII characters. */
  #safe(text: string): string {
    const safe = visible(text);
    if (!this.#ascii) return safe;
    return safe.replaceAll("·", "-").replaceAll(
      /[^\x20-\x7e]/gu,
      (found) => `\\u${found.codePointAt(0)?.toString(16).padStart(4, "0")}`,
    );
  }

  #text(line: Line): string {
    const last = line.findLastIndex(({ text }) => text.trim() !== "");
    const pieces = line.slice(0, last + 1).map((piece, at) =>
      at === last ? { ...piece, text: piece.text.trimEnd() } : piece
    );
    return pieces.map(({ text, paint }) => paint === undefined || text.trim() === "" ? text : paint(text)).join("");
  }
}

function plain(text: string): Piece {
  return { text, paint: undefined };
}

function widthOf(line: Line): number {
  return line.reduce((width, { text }) => width + textWidth(text), 0);
}

function padded(line: Line, width: number): Line {
  return [...line, plain(" ".repeat(Math.max(0, width - widthOf(line))))];
}
