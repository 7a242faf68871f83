/** Where a literal block ends, and what it says. */
export interface Literal {
  readonly value: string;
  /** After its last line. */
  readonly end: number;
  /** The line after it. */
  readonly next: number;
  /** Whether it keeps all line breaks at its end (`|+`). */
  readonly keeps: boolean;
}

const HEADER = /\|[-+]? *\n/y;
/** Empty lines, then the indentation of the first line that is not. */
const FIRST = /\n* +(?=[^ \n])/y;

/** For each indentation: the line break before the first line that is indented less, and what to take from each line. */
const patterns = new Map<number, { readonly less: RegExp; readonly margin: RegExp }>();

/** Reads a literal block (`|`, `|-`, `|+` without an indentation number) whose `|` is at `at`, in a map or list at `column`. */
export function readLiteral(text: string, at: number, column: number): Literal | undefined {
  HEADER.lastIndex = at;
  if (!HEADER.test(text)) return undefined;
  const start = FIRST.lastIndex = HEADER.lastIndex;
  if (!FIRST.test(text)) return undefined;
  const first = FIRST.lastIndex;
  const indent = first - text.lastIndexOf("\n", first - 1) - 1;
  if (indent <= column) return undefined;
  const { less, margin } = patternsFor(indent);
  less.lastIndex = first;
  const next = less.test(text) ? less.lastIndex : text.length;
  const lines = text.slice(start, next).replace(margin, "");
  const chomping = text.charAt(at + 1);
  return { value: chomped(lines, chomping), end: next, next, keeps: chomping === "+" };
}

function patternsFor(indent: number) {
  const known = patterns.get(indent);
  if (known !== undefined) return known;
  const made = {
    less: new RegExp(`\\n(?= {0,${indent - 1}}[^ \\n])`, "g"),
    margin: new RegExp(`^ {1,${indent}}`, "gm"),
  };
  if (patterns.size < 64) patterns.set(indent, made);
  return made;
}

function chomped(lines: string, chomping: string): string {
  if (chomping === "+") return lines;
  let end = lines.length;
  while (lines.charAt(end - 1) === "\n") end--;
  return chomping === "-" ? lines.slice(0, end) : lines.slice(0, end + 1);
}
