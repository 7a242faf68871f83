import type { StructuredPatch } from "diff";
import colors from "picocolors";
import { LateLibrary } from "../../base/late_library.ts";
import type { SourceDocument } from "../../yaml/mod.ts";

const DIFF = new LateLibrary("diff", () => import("diff"));

/** Maximum number of line edits. Documents with more edits are shown as entirely replaced, because the search time is quadratic. */
const MAX_EDITS = 5_000;

/** Creates diffs with line numbers of the whole file, so that `patch` accepts them. */
export class UnifiedDiff {
  /** Number of lines that the file has gained up to the last document. */
  #shift = 0;
  #file: string | undefined;

  static async loaded(): Promise<UnifiedDiff> {
    await DIFF.loaded();
    return new UnifiedDiff();
  }

  /** Returns the diff of a document and its new text; `""` if they are equal. Call this in the order of the input. */
  of({ file, index, line, text: before }: SourceDocument, after: string): string {
    if (this.#file !== file) this.#shift = 0;
    this.#file = file;
    if (before === after) return "";
    const shift = this.#shift + line - 1;
    const hunks = hunksOf(before, after).map((hunk) => ({
      ...hunk,
      oldStart: hunk.oldStart + line - 1,
      newStart: hunk.newStart + shift,
    }));
    this.#shift += linesIn(after) - linesIn(before);
    const name = `document ${index}`;
    return patchText({ oldFileName: file, newFileName: file, oldHeader: name, newHeader: name, hunks });
  }

  /** Returns the diff of two texts; `""` if they are equal. */
  between(before: NamedText, after: NamedText): string {
    if (before.text === after.text) return "";
    const names = { oldFileName: before.name, newFileName: after.name, oldHeader: undefined, newHeader: undefined };
    return patchText({ ...names, hunks: hunksOf(before.text, after.text) });
  }
}

interface NamedText {
  readonly name: string;
  readonly text: string;
}

function hunksOf(before: string, after: string) {
  const options = { context: 3, maxEditLength: MAX_EDITS };
  const patch = DIFF.get().structuredPatch("", "", before, after, "", "", options);
  return patch?.hunks ?? [everything(before, after)];
}

function patchText(patch: StructuredPatch): string {
  const head = { includeIndex: false, includeUnderline: false, includeFileHeaders: true };
  return DIFF.get().formatPatch(patch, head);
}

/** Returns a diff that removes all old lines and adds all new lines. */
function everything(before: string, after: string) {
  const [out, added] = [linesOf(before), linesOf(after)];
  const lines = [...out.map((line) => `-${line}`), ...added.map((line) => `+${line}`)];
  return { oldStart: 1, oldLines: out.length, newStart: 1, newLines: added.length, lines };
}

function linesOf(text: string): string[] {
  return text.replace(/\n$/, "").split("\n");
}

function linesIn(text: string): number {
  return text.split("\n").length;
}

const { bold, cyan, green, red } = colors.createColors(true);

/** Prefixes of diff lines, with their colors in git. */
const COLORS: readonly (readonly [start: string, color: (text: string) => string])[] = [
  ["+++", bold],
  ["---", bold],
  ["@@", cyan],
  ["+", green],
  ["-", red],
];

/** Colors a diff as git does. */
export function colored(diff: string): string {
  const color = (line: string) => COLORS.find(([start]) => line.startsWith(start))?.[1](line) ?? line;
  return diff.split("\n").map(color).join("\n");
}
