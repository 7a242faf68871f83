/**
 * Finds the end of one-line scalars. Uses loops, not regular expressions: an expression that repeats a group needs
 * memory for each repetition, and V8 fails after a few million of them.
 */

const LINE_FEED = 10;
const SPACE = 32;
const QUOTE = 34;
const HASH = 35;
const APOSTROPHE = 39;
const DASH = 45;
const COLON = 58;
const BACKSLASH = 92;

/** Characters that may start a common plain scalar, except the dash. */
const FIRST = table("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz_0123456789./$(+~=^;<\\)");
const FLOW = table(",[]{}");
/** Escapes that JSON also has. */
const ESCAPED = table('"\\nt');

/** The end of a plain scalar, including the spaces after it; `undefined` if no common scalar starts at `start`. */
export function plainEnd(text: string, start: number, inFlow: boolean): number | undefined {
  if (!startsPlain(text, start, inFlow)) return undefined;
  for (let at = start + 1; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code === LINE_FEED || (inFlow && FLOW[code] === 1)) return at;
    if (code === COLON && endsPlain(text.charCodeAt(at + 1), inFlow)) return at;
    if (code === HASH && text.charCodeAt(at - 1) === SPACE) return at;
  }
  return text.length;
}

function startsPlain(text: string, start: number, inFlow: boolean): boolean {
  const first = text.charCodeAt(start);
  return first === DASH ? !endsPlain(text.charCodeAt(start + 1), inFlow) : FIRST[first] === 1;
}

/** Whether a `-` or `:` before this character is YAML syntax. */
function endsPlain(code: number, inFlow: boolean): boolean {
  return code === SPACE || code === LINE_FEED || Number.isNaN(code) || (inFlow && FLOW[code] === 1);
}

/**
 * The end of a quoted scalar on one line, including its quotes; `undefined` for other escapes and for a missing end
 * quote.
 */
export function quotedEnd(text: string, start: number): number | undefined {
  return text.charCodeAt(start) === QUOTE ? doubleEnd(text, start + 1) : singleEnd(text, start + 1);
}

function doubleEnd(text: string, start: number): number | undefined {
  for (let at = start; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code === QUOTE) return at + 1;
    if (code === LINE_FEED) return undefined;
    if (code === BACKSLASH && ESCAPED[text.charCodeAt(++at)] !== 1) return undefined;
  }
  return undefined;
}

function singleEnd(text: string, start: number): number | undefined {
  for (let at = start; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code === LINE_FEED) return undefined;
    if (code !== APOSTROPHE) continue;
    if (text.charCodeAt(at + 1) !== APOSTROPHE) return at + 1;
    at++;
  }
  return undefined;
}

function table(chars: string): Uint8Array {
  const found = new Uint8Array(128);
  for (const char of chars) found[char.charCodeAt(0)] = 1;
  return found;
}
