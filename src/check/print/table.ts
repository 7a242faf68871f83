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
  /** Whether to print only ASCII characters, for terminals that do not support Unicode. */
  readonly ascii?: boolean;
  /** Whether to print only warnings, errors, and unknown results. */
  readonly short: boolean;
  /** Height of the screen, in lines. The short form fits into it; `undefined` means no limit. */
  readonly rows?: number;
  readonly failOn: FailOn;
  /** Width of lines, in columns; `undefined` leaves lines unwrapped and lists all objects. */
  readonly width: Width;
}

/** Minimum width of the table, in columns. Narrower tables are not readable. */
const LEAST_WIDTH = 60;

/** Returns the width of the terminal in columns, at least 60. */
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

/** Glyphs as in linkerd's check. Most fonts have them, even on the Windows console (linkerd2 #2114). */
const MARKS: Readonly<Record<Outcome, Mark>> = {
  ok: { glyph: "√", ascii: "+", paint: ({ green }) => green },
  warning: { glyph: "‼", ascii: "!", paint: ({ yellow }) => yellow },
  error: { glyph: "×", ascii: "x", paint: ({ red }) => red },
  skipped: { glyph: "-", ascii: "-", paint: ({ dim }) => dim },
  unknown: { glyph: "?", ascii: "?", paint: ({ yellow }) => yellow },
};

const WELL: readonly Outcome[] = ["ok", "skipped"];
const INDENT = "    ";

/** Returns the results as a table, with a line for each check, its problems below, and a summary line at the end. */
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
    return [...heading(category, palette), ...own.flatMap((result) => lines(result, mark, look.width))];
  });
  const unreached = counted(results.length - reached.length, "check");
  if (reached.length < results.length && !look.short) {
    parts.push([`${mark("skipped")} ${unreached} skipped, because the API server is not reachable`]);
  }
  const forbidden = Map.groupBy(reached.filter(isForbidden), ({ missingRight }) => missingRight);
  if (forbidden.size > 0) {
    const rows = [...forbidden].flatMap(([right, all]) => rightLines(right, all, mark, look.width));
    parts.push([...heading("not checked", palette), ...rows]);
  }
  const all = textOf([...parts, lastLines(results, look, mark)]);
  return isTooLong(all, look) ? textOf(screenParts(shown, results, { ...look, mark, palette })) : all;
}

function heading(text: string, { bold }: Palette): string[] {
  return [bold(text), "-".repeat(text.length)];
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

/** Minimum number of lines for the first cause, on any screen. */
const LEAST_LINES = 6;
/** Number of lines around the cause: its category, the underline, and an empty line at the end. */
const TITLE_LINES = 3;

/** Returns the first cause in full, the counts of its consequences and of all other problems, and the summary. */
function screenParts(shown: readonly CheckResult[], results: readonly CheckResult[], look: Screen): string[][] {
  const { mark, palette, width, rows = 0 } = look;
  const [cause, ...others] = shown;
  if (cause === undefined) return [lastLines(results, look, mark)];
  const isConsequence = (each: CheckResult): boolean => followsFrom(each, cause.id, shown);
  const [own, rest] = [others.filter(isConsequence), others.filter((each) => !isConsequence(each))];
  const counts = [
    ...own.length === 0 ? [] : [[...heading("consequences", palette), ...countLines(own, look)]],
    ...rest.length === 0 ? [] : [[...heading("other problems", palette), ...countLines(rest, look)]],
    ['"-o wide" shows all results', ...lastLines(results, look, mark)],
  ];
  const space = Math.max(LEAST_LINES, rows - TITLE_LINES - textOf(counts).split("\n").length);
  const text = lines(cause, mark, width);
  const cut = text.length > space ? [...text.slice(0, space - 1), `${INDENT}...`] : text;
  return [[...heading(cause.category, palette), ...cut], ...counts];
}

/** Whether the failure of the check `cause` leads to this result, directly or through other checks. */
function followsFrom({ becauseOf }: CheckResult, cause: string, all: readonly CheckResult[]): boolean {
  if (becauseOf === "" || becauseOf === cause) return becauseOf === cause;
  const next = all.find(({ id }) => id === becauseOf);
  return next !== undefined && followsFrom(next, cause, all);
}

/** Returns one line for each outcome: `× 3 errors: webhook-reachable, ...`. */
function countLines(all: readonly CheckResult[], { mark, width }: Screen): string[] {
  return COUNTED.flatMap((outcome) => {
    const ids = all.filter(({ result }) => result === outcome).map(({ id }) => id);
    if (ids.length === 0) return [];
    const more = ids.length > MAX_NAMED ? ` and ${ids.length - MAX_NAMED} more` : "";
    const what = outcome === "unknown" ? `${ids.length} unknown` : counted(ids.length, outcome);
    return marked(mark(outcome), `${what}: ${ids.slice(0, MAX_NAMED).join(", ")}${more}`, width);
  });
}

const COUNTED = ["error", "warning", "unknown"] as const;
const MAX_NAMED = 4;

/** Maximum number of checks to name for one right. The wide output names all. */
const MAX_IDS = 3;

/** Returns the lines for all checks that lack the same right: `41 checks need the right "list pods"`. */
function rightLines(right: string, all: readonly CheckResult[], markOf: MarkOf, width: Width): readonly string[] {
  const ids = width === undefined || all.length <= MAX_IDS ? `: ${all.map(({ id }) => id).join(", ")}` : "";
  const needs = all.length === 1 ? "needs" : "need";
  const [what = "", ...where] = right.replace(" on ", " ").split(/(?= in the namespace )/);
  const text = `${counted(all.length, "check")} ${needs} the right "${what}"${where.join("")}${ids}`;
  return marked(markOf("unknown"), text, width);
}

/** Returns a paragraph after a mark. The mark may contain escape sequences, so its length is not its width. */
function marked(mark: string, text: string, width: Width): string[] {
  const [first = "", ...rest] = block(text, "  ", width);
  return [`${mark} ${first.slice(2)}`, ...rest];
}

/** Whether a check was skipped because the API server does not respond. The table reports such checks in one line. */
function isUnreached({ result, message }: CheckResult): boolean {
  return result === "skipped" && message === neededText(FIRST);
}

type MarkOf = (outcome: Outcome) => string;

/** Returns the number of checks that could not run, and the counts of all results. */
function lastLines(results: readonly CheckResult[], { failOn, width }: Look, markOf: MarkOf): string[] {
  const { mark, counts: { ok, warning, error, unknown, skipped } } = summaryOf(results, failOn);
  const needsRights = results.some(({ missingRight }) => missingRight !== "");
  const rights = needsRights ? ': "kubectl mesh check --rbac" prints the needed rights' : "";
  const hint = `${counted(unknown, "check")} could not run${rights}`;
  const all = [`${ok} ok`, counted(warning, "warning"), counted(error, "error"), `${unknown} unknown`];
  const last = `Status check results are ?: ${[...all, `${skipped} skipped`].join(", ")}`;
  const whole = width === undefined || last.length <= width ? [last] : block(last, "", width);
  const summary = whole.map((line) => line.replace("?", markOf(mark)));
  return unknown === 0 ? summary : [...block(hint, "", width), ...summary];
}

/** Returns the lines of a check. A passed check is one paragraph. A message names only the first objects. */
function lines(checked: CheckResult, markOf: MarkOf, width: Width): readonly string[] {
  const { title, result, becauseOf, fixes, hint } = checked;
  const message = becauseOf === "" ? checked.message : `because of "${becauseOf}": ${checked.message}`;
  const mark = markOf(result);
  if (WELL.includes(result)) {
    return marked(mark, message === "" ? title : `${title}: ${oneLine(message)}`, width);
  }
  const causes = [...message.split("\n"), ...width === undefined ? unnamed(checked) : []];
  return [
    ...marked(mark, title, width),
    ...causes.flatMap((line) => block(line, INDENT, width)),
    // If the cause is fixed, this problem may disappear, so the short forms print no advice.
    ...becauseOf === "" || width === undefined ? adviceBlock(fixLines(fixes, width === undefined), INDENT, width) : [],
    ...hint === "" ? [] : block(hint, INDENT, width),
  ];
}

/** Lists the objects that the message leaves out. */
function unnamed({ message, objects }: CheckResult): readonly string[] {
  const rest = objects.filter((object) => !message.includes(`${object}: `));
  const label = rest.length < objects.length ? "all others" : rest.length === 1 ? "object" : "objects";
  return rest.length === 0 ? [] : [`${label}: ${rest.join(", ")}`];
}
