import { bytesOf } from "../../go_bytes.ts";
import { hex } from "../fmt/quote.ts";
import { isPrint } from "../unicode.ts";

const htmlEntities: Readonly<Record<string, string>> = {
  '"': "&#34;",
  "'": "&#39;",
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  "\0": "\uFFFD",
};

/** Escapes text for HTML as Go's `html` function does. */
export function escapeHtml(text: string): string {
  return text.replace(/["'&<>\0]/g, (character) => htmlEntities[character] ?? character);
}

/** Escapes text for a JavaScript string as Go's `js` function does. */
export function escapeJs(text: string): string {
  let out = "";
  for (const character of text) out += jsCharacter(character, character.codePointAt(0) ?? 0);
  return out;
}

function jsCharacter(character: string, code: number): string {
  if (character === "\\" || character === "'" || character === '"') return `\\${character}`;
  if (code < 0x20 || "<>&=".includes(character)) return `\\u${hex(code, 4).toUpperCase()}`;
  const surrogate = code >= 0xd800 && code <= 0xdfff;
  return code < 0x80 || surrogate || isPrint(code) ? character : `\\u${hex(code, 4).toUpperCase()}`;
}

/** Escapes text for the query of a URL as Go's `url.QueryEscape` does: a space becomes a plus. */
export function escapeQuery(text: string): string {
  let out = "";
  for (const byte of bytesOf(text)) {
    const character = String.fromCharCode(byte);
    if (/[A-Za-z0-9\-_.~]/.test(character)) out += character;
    else out += byte === 0x20 ? "+" : `%${hex(byte, 2).toUpperCase()}`;
  }
  return out;
}
