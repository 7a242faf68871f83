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
export function pad(text: string, flags: Flags, fill = flags.zero && !flags.minus ? "0" : " "): string {
  const { width, minus } = flags;
  if (width === undefined) return text;
  // Characters count, not bytes and not UTF-16 units.
  const missing = fill.repeat(Math.max(0, width - [...text].length));
  return minus ? text + missing : missing + text;
}

/** Pads a text with spaces and ignores the zero flag. */
export function padSpaces(text: string, flags: Flags): string {
  return pad(text, flags, " ");
}
