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
  return {
    minus: false,
    plus: false,
    sharp: false,
    space: false,
    zero: false,
    plusV: false,
    sharpV: false,
    width: undefined,
    precision: undefined,
  };
}

/** The text at the verb's width, padded with spaces, or on the left with zeros if the zero flag says so. */
export function pad(text: string, flags: Flags): string {
  return flags.width === undefined ? text : padTo(text, flags, flags.zero && !flags.minus ? "0" : " ");
}

/** The same with spaces whatever the zero flag. */
export function padSpaces(text: string, flags: Flags): string {
  return flags.width === undefined ? text : padTo(text, flags, " ");
}

function padTo(text: string, flags: Flags, fill: string): string {
  const missing = (flags.width ?? 0) - runeCount(text);
  if (missing <= 0) return text;
  return flags.minus ? text + fill.repeat(missing) : fill.repeat(missing) + text;
}

/** The number of characters (not bytes, not UTF-16 units) of a text. */
export function runeCount(text: string): number {
  let count = 0;
  for (const _ of text) count++;
  return count;
}
