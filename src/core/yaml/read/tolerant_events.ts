import { type Event, EVENT_ID, parseEvents, YAMLException } from "js-yaml";

/** How many lines are mended before a text is given up. */
const MAX_MENDED = 200;
/** Each mend reads the text again: how many characters may be read in all. */
const MAX_READ = 50_000_000;

/**
 * The events of a text. By the letter of YAML the lines of a flow collection or a quoted text are indented deeper than
 * what they belong to; kubectl's reader does not look at indentation there, and people close a bracket at the column of
 * its key. So where js-yaml stops at such a line, the line break before it is read as spaces. The text keeps its length,
 * so offsets are those of the original, from which scalars are read.
 */
export function tolerantEvents(text: string, maxDepth: number): Event[] {
  let mended = text;
  let first: unknown;
  for (let count = 0;; count++) {
    try {
      return foldedAgain(parseEvents(mended, { maxDepth }), text, mended);
    } catch (error) {
      first ??= error;
      const next = count < MAX_MENDED && count * text.length < MAX_READ ? joinLine(mended, error) : undefined;
      if (next === undefined) throw first;
      mended = next;
    }
  }
}

/** Scalars over several lines of the original are not the plain runs of text that they were taken for. */
function foldedAgain(events: Event[], text: string, mended: string): Event[] {
  if (text === mended) return events;
  for (const event of events) {
    if (event.type !== EVENT_ID.SCALAR || !event.fast) continue;
    if (text.slice(event.valueStart, event.valueEnd).includes("\n")) event.fast = false;
  }
  return events;
}

/** The text with the line that js-yaml stopped at put behind the one before it; `undefined` if that is not the trouble. */
function joinLine(text: string, error: unknown): string | undefined {
  if (!(error instanceof YAMLException) || error.reason !== "deficient indentation") return undefined;
  const at = error.mark?.position ?? 0;
  const margin = /\n *$/.exec(text.slice(0, at))?.index;
  if (margin === undefined || at >= text.length) return undefined;
  const end = endOfContent(text, margin);
  return text.slice(0, end) + " ".repeat(at - end) + text.slice(at);
}

/** A line without its comment: quoted texts may hold a `#`. */
const CONTENT = /^(?:[^"'#\n]|"(?:\\.|[^"\\\n])*"|'[^'\n]*'|(?<=[^\s])#)*?(?=\s*(?:(?:^|\s)#|$))/;

/** Where the content before a line break ends, over blank lines and comments. */
function endOfContent(text: string, lineBreak: number): number {
  let end = lineBreak;
  while (end > 0) {
    const start = text.lastIndexOf("\n", end - 1) + 1;
    const line = text.slice(start, end);
    const content = CONTENT.exec(line)?.[0] ?? line;
    if (content.trim() !== "") return start + content.length;
    end = start - 1;
  }
  return lineBreak;
}
