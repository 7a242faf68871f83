import { type Event, EVENT_ID, parseEvents, YAMLException } from "js-yaml";

/** Maximum number of joined lines. */
const MAX_JOINED = 200;
/** Maximum characters to parse in total, because each joined line costs another parse. */
const MAX_PARSED = 50_000_000;

/**
 * The events of a text. YAML requires deeper indentation for the continuation lines of a flow collection or quoted
 * scalar. kubectl's reader does not, and people close a bracket at the column of its key. If js-yaml rejects a line
 * because of its indentation, the line is joined to the previous line: spaces replace the line break. The length stays,
 * so offsets are valid in the original text, and scalars are read from the original text.
 */
export function tolerantEvents(text: string, maxDepth: number): { events: Event[]; isJoined: boolean } {
  let joined = text;
  let first: unknown;
  for (let count = 0;; count++) {
    try {
      const events = withFoldedScalars(parseEvents(joined, { maxDepth }), text, joined);
      return { events, isJoined: joined !== text };
    } catch (error) {
      first ??= error;
      const next = count < MAX_JOINED && count * text.length < MAX_PARSED ? joinLine(joined, error) : undefined;
      if (next === undefined) throw first;
      joined = next;
    }
  }
}

/**
 * Marks scalars that span several lines of the original text, because js-yaml must fold them instead of slicing the
 * text.
 */
function withFoldedScalars(events: Event[], text: string, joined: string): Event[] {
  if (text === joined) return events;
  for (const event of events) {
    if (event.type !== EVENT_ID.SCALAR || !event.fast) continue;
    if (text.slice(event.valueStart, event.valueEnd).includes("\n")) event.fast = false;
  }
  return events;
}

/** The text with the line of js-yaml's error joined to the previous line; `undefined` for any other error. */
function joinLine(text: string, error: unknown): string | undefined {
  if (!(error instanceof YAMLException) || error.reason !== "deficient indentation") return undefined;
  const at = error.mark?.position ?? 0;
  const margin = /\n *$/.exec(text.slice(0, at))?.index;
  if (margin === undefined || at >= text.length) return undefined;
  const end = endOfContent(text, margin);
  return text.slice(0, end) + " ".repeat(at - end) + text.slice(at);
}

/** The end of the content before a line break, skipping blank lines and comments. */
function endOfContent(text: string, lineBreak: number): number {
  let end = lineBreak;
  while (end > 0) {
    const start = text.lastIndexOf("\n", end - 1) + 1;
    const line = text.slice(start, end);
    const length = contentLength(line);
    if (length > 0) return start + length;
    end = start - 1;
  }
  return lineBreak;
}

/** The length of a line without a comment and the white space before the comment. Quoted scalars may contain a `#`. */
function contentLength(line: string): number {
  let length = 0;
  for (let at = 0; at < line.length;) {
    const char = line.charAt(at);
    if (char === "#" && isSpace(line.charAt(at - 1))) return length;
    const end = char === '"' || char === "'" ? stringEnd(line, at) : at + 1;
    // The quote is not closed, so the whole line is content.
    if (end === undefined) return line.length;
    if (!isSpace(char)) length = end;
    at = end;
  }
  return length;
}

/** Whether a character is white space. The empty text before the start of a line counts as white space. */
function isSpace(char: string): boolean {
  return char.trim() === "";
}

function stringEnd(line: string, start: number): number | undefined {
  const quote = line.charAt(start);
  for (let at = start + 1; at < line.length; at++) {
    if (line.charAt(at) === quote) return at + 1;
    if (quote === '"' && line.charAt(at) === "\\") at++;
  }
  return undefined;
}
