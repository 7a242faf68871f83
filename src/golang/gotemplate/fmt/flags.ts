/** The flags, width and precision of one verb of a format, as Go's package fmt reads them. */
export interface Flags {
  minus: boolean;
  plus: boolean;
  sharp: boolean;
  space: boolean;
  zero: boolean;
  /** `%+v`: struct fields with their names. */
  plusV: boolean;
  /** `%#v`: Go syntax. */
  sharpV: boolean;
  width: number | undefined;
  precision: number | undefined;
}

/** No flags, no width, no precision. */
export function noFlags(): Flags {
  const off = { minus: false, plus: false, sharp: false, space: false, zero: false, plusV: false, sharpV: false };
  return { ...off, width: undefined, precision: undefined };
}

/** Pads a text to the verb's width: with spaces, or with zeros on the left if the zero flag is set. */
export function pad(text: string, flags: Flags): string {
  return flags.width === undefined ? text : padTo(text, flags, flags.zero && !flags.minus ? "0" : " ");
}

/** Pads a text with spaces and ignores the zero flag. */
export function padSpaces(text: string, flags: Flags): string {
  return flags.width === undefined ? text : padTo(text, flags, " ");
}

function padTo(text: string, flags: Flags, fill: string): string {
  const missing = (flags.width ?? 0) - runeCount(text);
  if (missing <= 0) return text;
  return flags.minus ? text + fill.repeat(missing) : fill.repeat(missing) + text;
}

/** The number of characters (not bytes, not UTF-16 units) of a text. */
function runeCount(text: string): number {
  let count = 0;
  for (const _ of text) count++;
  return count;
}
