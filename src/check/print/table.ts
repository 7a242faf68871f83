import colors from "picocolors";
import { oneLine } from "../../base/errors.ts";
import type { Outcome } from "../check.ts";
import { counted } from "../../base/text/mod.ts";
import { columnsOf } from "../../platform/terminal.ts";
import type { World } from "../../platform/mod.ts";
import { fixLines } from "../advice/text.ts";
import { FIRST } from "../choose.ts";
import { type FailOn, neededText, summaryOf } from "../result.ts";
import type { CheckResult } from "../result_schema.ts";
import { adviceBlock, block, type Width } from "./lines.ts";

export interface Look {
  readonly color: boolean;
  /** For terminals that support nothing else. */
  readonly ascii?: boolean;
  /** Only warnings, errors and unknown results. */
  readonly short: boolean;
  /** The lines of the screen, which the short form fits; `undefined`: any number. */
  readonly rows?: number;
  readonly failOn: FailOn;
  /** The columns of a line; `undefined`: no line is broken, and all objects are named. */
  readonly width: Width;
}

/** Narrower tables cannot be read. */
const LEAST_WIDTH = 80;

/** The columns of the terminal, 80 at least. */
export function widthOf(world: Pick<World, "env" | "stdout">): number {
  return Math.max(LEAST_WIDTH, columnsOf(world));
}

type Paint = (text: string) => string;

interface Mark {
  readonly glyph: string;
  readonly ascii: string;
  readonly paint: (palette: Palette) => Paint;
}

type Palette = ReturnType<typeof colors.createColors>;

/** The glyphs of linkerd's check: most fonts have them, also on Windows' console (linkerd2 #2114). */
const MARKS: Readonly<Record<Outcome, Mark>> = {
  ok: { glyph: "√", ascii: "+", paint: ({ green }) => green },
  warning: { glyph: "‼", ascii: "!", paint: ({ yellow }) => yellow },
  error: { glyph: "×", ascii: "x", paint: ({ red }) => red },
  skipped: { glyph: "-", ascii: "-", paint: ({ dim }) => dim },
  unknown: { glyph: "?", ascii: "?", paint: ({ yellow }) => yellow },
};

const WELL: readonly Outcome[] = ["ok", "skipped"];
const INDENT = "    ";

/** The results as a table: categories, one line for each check, problems below it, and a summary line. */
export function tableText(results: readonly CheckResult[], look: Look): string {
  const palette = colors.createColors(look.color);
  const mark: MarkOf = (outcome) => {
    const { glyph, ascii, paint } = MARKS[outcome];
    return paint(palette)(look.ascii === true ? ascii : glyph);
  };
  const reached = results.filter((each) => !isUnreached(each));
  const isForbidden = ({ result, missingRight }: CheckResult) => result === "unknown" && missingRight !== "";
  const made = reached.filter((each) => !isForbidden(each));
  const shown = look.short ? made.filter(({ result }) => !WELL.includes(result)) : made;
  const categories = [...new Set(shown.map(({ category }) => category))];
  const parts = categories.map((category) => {
    const own = shown.filter((result) => result.category === category);
    return [
      palette.bold(category),
      "-".repeat(category.length),
      ...own.flatMap((result) => lines(result, mark, look.width)),
    ];
  });
  const unreached = counted(results.length - reached.length, "check");
  if (reached.length < results.length && !look.short) {
    parts.push([`${mark("skipped")} ${unreached} skipped: without the API server nothing else is known`]);
  }
  const forbidden = Map.groupBy(reached.filter(isForbidden), ({ missingRight }) => missingRight);
  if (forbidden.size > 0) {
    const rows = [...forbidden].flatMap(([right, all]) => rightLines(right, all, mark, look.width));
    parts.push([palette.bold(UNCHECKED), "-".repeat(UNCHECKED.length), ...rows]);
  }
  const all = textOf([...parts, lastLines(results, look.failOn, mark)]);
  return isTooLong(all, look) ? textOf(screenParts(shown, results, { ...look, mark, palette })) : all;
}

function textOf(parts: readonly (readonly string[])[]): string {
  return parts.map((part) => `${part.join("\n")}\n`).join("\n");
}

function isTooLong(text: string, { short, rows = Infinity }: Look): boolean {
  return short && text.split("\n").length > rows;
}

interface Screen extends Look {
  readonly mark: MarkOf;
  readonly palette: Palette;
}

/** Of the cause, on a screen however small. */
const LEAST_LINES = 6;
/** The cause's category with its line, and the empty line after the cause. */
const TITLE_LINES = 3;

/** The first cause in full, the counts of what follows from it and of all others, and the summary. */
function screenParts(shown: readonly CheckResult[], results: readonly CheckResult[], look: Screen): string[][] {
  const { mark, palette, width, rows = 0 } = look;
  const [cause, ...others] = shown;
  if (cause === undefined) return [lastLines(results, look.failOn, mark)];
  const isConsequence = (each: CheckResult): boolean => followsFrom(each, cause.id, shown);
  const [own, rest] = [others.filter(isConsequence), others.filter((each) => !isConsequence(each))];
  const counts = [
    ...own.length === 0 ? [] : [[palette.bold(FROM_IT), "-".repeat(FROM_IT.length), ...countLines(own, look)]],
    ...rest.length === 0 ? [] : [[palette.bold(BESIDE), "-".repeat(BESIDE.length), ...countLines(rest, look)]],
    [EVERYTHING, ...lastLines(results, look.failOn, mark)],
  ];
  const space = Math.max(LEAST_LINES, rows - TITLE_LINES - textOf(counts).split("\n").length);
  const text = lines(cause, mark, width);
  const cut = text.length > space ? [...text.slice(0, space - 1), `${INDENT}...`] : text;
  return [[palette.bold(cause.category), "-".repeat(cause.category.length), ...cut], ...counts];
}

const FROM_IT = "because of it";
const BESIDE = "beside it";
const EVERYTHING = '"-o wide" shows all of them';

/** Whether the failure of a check leads to this one, over any number of others. */
function followsFrom({ becauseOf }: CheckResult, cause: string, all: readonly CheckResult[]): boolean {
  if (becauseOf === "" || becauseOf === cause) return becauseOf === cause;
  const next = all.find(({ id }) => id === becauseOf);
  return next !== undefined && followsFrom(next, cause, all);
}

/** `× 3 errors: webhook-reachable, ...`, a line for each outcome. */
function countLines(all: readonly CheckResult[], { mark, width }: Screen): string[] {
  return COUNTED.flatMap((outcome) => {
    const ids = all.filter(({ result }) => result === outcome).map(({ id }) => id);
    if (ids.length === 0) return [];
    const more = ids.length > MAX_NAMED ? ` and ${ids.length - MAX_NAMED} more` : "";
    const what = outcome === "unknown" ? `${ids.length} unknown` : counted(ids.length, outcome);
    const [first = "", ...rest] = block(`${what}: ${ids.slice(0, MAX_NAMED).join(", ")}${more}`, "  ", width);
    return [`${mark(outcome)} ${first.slice(2)}`, ...rest];
  });
}

const COUNTED = ["error", "warning", "unknown"] as const;
/** Checks of an outcome that are named where they are counted. */
const MAX_NAMED = 4;

/** Heads the checks that lack a right. */
const UNCHECKED = "not checked";
/** Checks of one right that are named; wide output names all. */
const MAX_IDS = 3;

/** All checks that lack the same right: `41 checks need the right "list pods"`. */
function rightLines(right: string, all: readonly CheckResult[], markOf: MarkOf, width: Width): readonly string[] {
  const ids = width === undefined || all.length <= MAX_IDS ? `: ${all.map(({ id }) => id).join(", ")}` : "";
  const needs = all.length === 1 ? "needs" : "need";
  const text = `${counted(all.length, "check")} ${needs} the right "${right.replace(" on ", " ")}"${ids}`;
  const [first = "", ...rest] = block(text, "  ", width);
  return [`${markOf("unknown")} ${first.slice(2)}`, ...rest];
}

/** Skipped because the API server does not answer: reported once. */
function isUnreached({ result, message }: CheckResult): boolean {
  return result === "skipped" && message === neededText(FIRST);
}

type MarkOf = (outcome: Outcome) => string;

/** The checks that could not be made, and the counts of all results. */
function lastLines(results: readonly CheckResult[], failOn: FailOn, markOf: MarkOf): string[] {
  const { mark, counts: { ok, warning, error, unknown, skipped } } = summaryOf(results, failOn);
  const needsRights = results.some(({ missingRight }) => missingRight !== "");
  const rights = needsRights ? ': "kubectl mesh check --rbac" prints the rights' : "";
  const hint = `${counted(unknown, "check")} could not be made${rights}`;
  const all = [`${ok} ok`, counted(warning, "warning"), counted(error, "error"), `${unknown} unknown`];
  const last = `Status check results are ${markOf(mark)}: ${[...all, `${skipped} skipped`].join(", ")}`;
  return unknown === 0 ? [last] : [hint, last];
}

/** A passed check takes one line. The message names the first objects, JSON has all. */
function lines(checked: CheckResult, markOf: MarkOf, width: Width): readonly string[] {
  const { title, result, becauseOf, fixes, hint } = checked;
  const message = becauseOf === "" ? checked.message : `because of "${becauseOf}": ${checked.message}`;
  const mark = markOf(result);
  if (WELL.includes(result)) {
    // The mark may be longer than it looks: its colour is not printed.
    const [first = "", ...rest] = block(message === "" ? title : `${title}: ${oneLine(message)}`, "  ", width);
    return [`${mark} ${first.slice(2)}`, ...rest];
  }
  const causes = [...message.split("\n"), ...width === undefined ? unnamed(checked) : []];
  return [
    `${mark} ${title}`,
    ...causes.flatMap((line) => block(line, INDENT, width)),
    // After the cause is fixed, there may be nothing left to do.
    ...becauseOf === "" || width === undefined ? adviceBlock(fixLines(fixes, width === undefined), INDENT, width) : [],
    ...hint === "" ? [] : block(hint, INDENT, width),
  ];
}

/** Objects that the message leaves out. */
function unnamed({ message, objects }: CheckResult): readonly string[] {
  const rest = objects.filter((object) => !message.includes(`${object}: `));
  return rest.length === 0 ? [] : [`all others: ${rest.join(", ")}`];
}
