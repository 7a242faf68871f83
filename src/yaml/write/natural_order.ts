/**
 * Compares two keys as go-yaml sorts them: letters after all other characters, runs of digits by their number,
 * otherwise code points. Negative if `a` comes first.
 */
export function naturalOrder(a: string, b: string): number {
  const left = Array.from(a);
  const right = Array.from(b);
  const at = left.findIndex((char, index) => char !== right[index]);
  const l = left[at];
  const r = right[at];
  if (l === undefined || r === undefined) return left.length - right.length;
  const letters = Number(isLetter(l)) - Number(isLetter(r));
  if (letters !== 0) return letters;
  return (isLetter(l) ? 0 : numberOrder(left, right, at)) || codePoint(l) - codePoint(r);
}

/**
 * Compares the numbers that start at the first difference. If a number starts with a zero there and follows a nonzero
 * digit, both numbers are compared with a leading 1.
 */
function numberOrder(left: readonly string[], right: readonly string[], at: number): number {
  const before = left.slice(0, at);
  const digits = before.slice(before.findLastIndex((char) => !isDigit(char)) + 1);
  const isInside = (left[at] === "0" || right[at] === "0") && digits.some((digit) => digit !== "0");
  const l = digitsFrom(left, at);
  const r = digitsFrom(right, at);
  const lead = isInside ? "1" : "0";
  return Number(BigInt(lead + l) - BigInt(lead + r)) || l.length - r.length;
}

function digitsFrom(chars: readonly string[], at: number): string {
  return /^[0-9]*/.exec(chars.slice(at).join(""))?.[0] ?? "";
}

/**
 * Whether a character is a letter. Tests ASCII without a Unicode expression, because V8's first use of one takes half a
 * millisecond.
 */
function isLetter(char: string): boolean {
  return char < "\x80" ? /[A-Za-z]/.test(char) : /\p{L}/u.test(char);
}

function isDigit(char: string): boolean {
  return char < "\x80" ? /[0-9]/.test(char) : /\p{Nd}/u.test(char);
}

function codePoint(char: string): number {
  return char.codePointAt(0) ?? 0;
}
