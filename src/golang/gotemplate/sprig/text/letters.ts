/** Letter case as Go's unicode package has it: one rune becomes one rune (no `SS` for `ß`). */

/** unicode.IsUpper. */
export function isUpper(rune: string): boolean {
  return /^\p{Lu}$/u.test(rune);
}

/** strings.ToUpper. */
export function upper(text: string): string {
  return text.replace(/./gsu, upperRune);
}

/** strings.ToLower. */
export function lower(text: string): string {
  return text.replace(/./gsu, lowerRune);
}

/** unicode.ToLower. */
export function lowerRune(rune: string): string {
  return rune === "\u0130" ? "i" : oneRune(rune.toLowerCase(), rune);
}

/** unicode.ToUpper. */
export function upperRune(rune: string): string {
  return withIotaSubscript(rune) ?? oneRune(rune.toUpperCase(), rune);
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
  return text.replace(/(?<=^|[^\w\P{ASCII}]|\p{White_Space})./gsu, titleRune);
}
