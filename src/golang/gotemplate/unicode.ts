/** Character classes of Go's package unicode: characters of identifiers, and characters that `%q` does not escape. */

/** `unicode.IsPrint`: letters, marks, numbers, punctuation, symbols and the ASCII space. */
export function isPrint(code: number): boolean {
  if (code < 0x7f) return code >= 0x20;
  return code <= 0x10ffff && /^[\p{L}\p{M}\p{N}\p{P}\p{S} ]$/u.test(String.fromCodePoint(code));
}

/** Whether a character may be in a template identifier: a letter, a decimal digit or an underscore. */
export function isAlphanumeric(code: number): boolean {
  return /^[\p{L}\p{Nd}_]$/u.test(String.fromCodePoint(code));
}
