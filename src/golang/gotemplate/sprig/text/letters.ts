/**
 * Letter case and character classes as Go's unicode package has them: one rune becomes one rune (no `SS` for `ß`), and
 * white space is Unicode's White_Space.
 */
import { trimmed } from "../../../../base/text/mod.ts";

/** Members of White_Space, for use inside a character class. */
export const SPACE = "\\t-\\r \\x85\\xa0\\u1680\\u2000-\\u200a\\u2028\\u2029\\u202f\\u205f\\u3000";

const SPACE_RUNE = new RegExp(`^[${SPACE}]$`, "u");

/** unicode.IsSpace. */
export function isSpace(rune: string): boolean {
  return SPACE_RUNE.test(rune);
}

/** unicode.IsUpper. */
export function isUpper(rune: string): boolean {
  return /^\p{Lu}$/u.test(rune);
}

/** unicode.IsTitle. */
export function isTitle(rune: string): boolean {
  return /^\p{Lt}$/u.test(rune);
}

/** unicode.IsLower. */
export function isLower(rune: string): boolean {
  return /^\p{Ll}$/u.test(rune);
}

/** strings.TrimSpace. */
export function trimSpace(text: string): string {
  return trimmed(text, isSpace);
}

/** strings.ToUpper. */
export function upper(text: string): string {
  return eachRune(text, upperRune, (ascii) => ascii.toUpperCase());
}

/** strings.ToLower. */
export function lower(text: string): string {
  return eachRune(text, lowerRune, (ascii) => ascii.toLowerCase());
}

function eachRune(text: string, change: (rune: string) => string, ascii: (text: string) => string): string {
  if (/^[\0-\x7f]*$/.test(text)) return ascii(text);
  let out = "";
  for (const rune of text) out += change(rune);
  return out;
}

/** unicode.ToLower. */
export function lowerRune(rune: string): string {
  return rune === "\u0130" ? "i" : oneRune(rune.toLowerCase(), rune);
}

/** unicode.ToUpper. */
export function upperRune(rune: string): string {
  const greek = withIotaSubscript(rune);
  return greek ?? oneRune(rune.toUpperCase(), rune);
}

/**
 * unicode.ToTitle: the upper case, except that digraphs have a separate title case and Georgian letters do not change.
 */
export function titleRune(rune: string): string {
  const code = rune.codePointAt(0) ?? 0;
  if (code >= 0x1c4 && code <= 0x1cc) return String.fromCodePoint(0x1c5 + 3 * Math.floor((code - 0x1c4) / 3));
  if (code >= 0x1f1 && code <= 0x1f3) return "\u01f2";
  if (code >= 0x10d0 && code <= 0x10ff) return rune;
  return upperRune(rune);
}

/** The upper case of a Greek vowel with an iota subscript: its title-case rune, as in Unicode's simple mapping. */
function withIotaSubscript(rune: string): string | undefined {
  const code = rune.codePointAt(0) ?? 0;
  if (code >= 0x1f80 && code <= 0x1faf) return String.fromCodePoint(code | 8);
  if (code === 0x1fb3 || code === 0x1fc3 || code === 0x1ff3) return String.fromCodePoint(code + 9);
  return undefined;
}

/** Go does not change a rune whose full case mapping has several runes. */
function oneRune(mapped: string, rune: string): string {
  const first = mapped.codePointAt(0);
  return first !== undefined && String.fromCodePoint(first) === mapped ? mapped : rune;
}

/** strings.Title: the first letter of each word in title case. A word consists of letters, digits and underscores. */
export function title(text: string): string {
  let afterSeparator = true;
  let out = "";
  for (const rune of text) {
    out += afterSeparator ? titleRune(rune) : rune;
    afterSeparator = isSeparator(rune);
  }
  return out;
}

function isSeparator(rune: string): boolean {
  if (rune <= "\x7f") return !/\w/.test(rune);
  return !/^[\p{L}\p{Nd}]$/u.test(rune) && isSpace(rune);
}
