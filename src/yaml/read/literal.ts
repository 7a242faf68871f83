/** A literal block's value and end. */
interface Literal {
  readonly value: string;
  /** The start of the line after it. */
  readonly end: number;
  /** It keeps all line breaks at its end (`|+`). */
  readonly keeps: boolean;
}

const HEADER = /\|[-+]? *\n/y;
/** Empty lines, then the indentation of the first other line. */
const FIRST = /\n* +(?=[^ \n])/y;

/** By indentation: the line break before the first line that is indented less, and the margin of each line. */
const patterns = new Map<number, { readonly less: RegExp; readonly margin: RegExp }>();

/** Reads the literal block (`|`, `|-`, `|+`, without indentation indicator) at `at`, in a map or list at `column`. */
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
  return { value: chomped(lines, chomping), end: next, keeps: chomping === "+" };
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
