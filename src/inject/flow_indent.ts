/** A line that opens a flow collection and leaves it open: `annotations: {`. */
const OPENS = /^( *)(?:- |[^\s#"'|>][^\n]*?: +|[^\s#"'|>][^\n]*?:? +)?[{[][ \t]*$/;

/**
 * The text with the lines of flow collections indented deeper than what they belong to. kubectl's reader does not look
 * at indentation between brackets, and Istio's templates close one at the column of its key; ours reads by the letter
 * of YAML and refuses that.
 */
export function indentFlow(text: string): string {
  if (!/[{[][ \t]*$/m.test(text)) return text;
  const lines = text.split("\n");
  for (let index = 0; index < lines.length; index++) {
    const line = lines[index] ?? "";
    const opening = OPENS.exec(line);
    if (BLOCK.test(line)) index = lastOfBlock(lines, index);
    else if (opening !== null) index = indentUntilClosed(lines, index, `${opening[1] ?? ""} `);
  }
  return lines.join("\n");
}

/** A line that begins a block scalar: its lines are text, whatever brackets they have. */
const BLOCK = /(?:^|[\s:-]) *[|>][-+\d]*[ \t]*(?: #.*)?$/;

/** The index of the last line of the block scalar that begins at `start`: the lines that are indented deeper. */
function lastOfBlock(lines: readonly string[], start: number): number {
  const head = lines[start] ?? "";
  const margin = /^ *(?:- +)*/.exec(head)?.[0].length ?? 0;
  const outer = /^ *- +[|>]/.test(head) ? margin - 2 : margin;
  let end = start;
  while (end + 1 < lines.length && indentOf(lines[end + 1] ?? "") > outer) end++;
  return end;
}

/** Blank lines belong to what is around them. */
function indentOf(line: string): number {
  const at = line.search(/[^ ]/);
  return at < 0 ? Infinity : at;
}

/** Indents the lines after `start` until the brackets are closed; the index of the last such line. */
function indentUntilClosed(lines: string[], start: number, margin: string): number {
  const scan = { depth: 1, quote: "" };
  for (let index = start + 1; index < lines.length; index++) {
    const line = lines[index] ?? "";
    lines[index] = margin + line;
    scanLine(line, scan);
    if (scan.depth <= 0) return index;
  }
  return lines.length;
}

interface Scan {
  depth: number;
  /** The quote that is open at the end of the line, `""` if none is. */
  quote: string;
}

/** Counts brackets outside of quoted strings and comments. */
function scanLine(line: string, scan: Scan): void {
  for (const [token] of line.matchAll(/\\.|["'{}[\]]|(?:^|\s)#/g)) {
    if (scan.quote !== "") {
      if (token === scan.quote) scan.quote = "";
    } else if (token.endsWith("#")) return;
    else if (QUOTES.has(token)) scan.quote = token;
    else scan.depth += STEPS.get(token) ?? 0;
    if (scan.depth <= 0) return;
  }
}

const QUOTES: ReadonlySet<string> = new Set(['"', "'"]);
const STEPS: ReadonlyMap<string, number> = new Map([["{", 1], ["[", 1], ["}", -1], ["]", -1]]);
