/** The value and the end of a literal block. */
interface Literal {
  readonly value: string;
  /** The start of the line after the block. */
  readonly end: number;
  /** Whether the block keeps all line breaks at its end (`|+`). */
  readonly keeps: boolean;
}

const HEADER = /\|[-+]? *\n/y;
/** Empty lines and the indentation of the first line with content. */
const FIRST = /\n* +(?=[^ \n])/y;

/** Reads the literal block (`|`, `|-`, `|+`, without indentation indicator) at `at`, in a map or list at `column`. */
export function readLiteral(text: string, at: number, column: number): Literal | undefined {
  HEADER.lastIndex = at;
  if (!HEADER.test(text)) return undefined;
  const start = FIRST.lastIndex = HEADER.lastIndex;
  if (!FIRST.test(text)) return undefined;
  const first = FIRST.lastIndex;
  const indent = first - text.lastIndexOf("\n", first - 1) - 1;
  if (indent <= column) return undefined;
  const less = new RegExp(`\\n(?= {0,${indent - 1}}[^ \\n])`, "g");
  less.lastIndex = first;
  const next = less.test(text) ? less.lastIndex : text.length;
  const lines = text.slice(start, next).replace(new RegExp(`^ {1,${indent}}`, "gm"), "");
  const chomping = text.charAt(at + 1);
  return { value: chomped(lines, chomping), end: next, keeps: chomping === "+" };
}

function chomped(lines: string, chomping: string): string {
  if (chomping === "+") return lines;
  let end = lines.length;
  while (lines.charAt(end - 1) === "\n") end--;
  return chomping === "-" ? lines.slice(0, end) : lines.slice(0, end + 1);
}
