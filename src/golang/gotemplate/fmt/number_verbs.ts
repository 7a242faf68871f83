import { isPrint } from "../unicode.ts";
import { type Flags, pad, padSpaces } from "./flags.ts";
import { formatFloat } from "./float.ts";
import { quoteRune, validRune } from "./quote.ts";

const bases: Readonly<Record<string, number>> = { d: 10, b: 2, o: 8, O: 8, x: 16, X: 16 };

/** Formats an integer with an integer verb (v d b o O x X c q U); `undefined` for any other verb. */
export function integerText(value: bigint, unsigned: boolean, verb: string, flags: Flags): string | undefined {
  if (verb === "v") {
    if (!flags.sharpV || !unsigned) return digitsText(value, 10, "d", flags);
    return digitsText(value, 16, "x", { ...flags, sharp: true });
  }
  if (verb === "c") return pad(String.fromCodePoint(runeOf(value)), flags);
  if (verb === "q") return pad(quoteRune(runeOf(value), flags.plus), flags);
  if (verb === "U") return unicodeText(BigInt.asUintN(64, value), flags);
  const base = bases[verb];
  return base === undefined ? undefined : digitsText(value, base, verb, flags);
}

function runeOf(value: bigint): number {
  return value < 0n || value > 0x10ffffn ? 0xfffd : validRune(Number(value));
}

function digitsText(value: bigint, base: number, verb: string, flags: Flags): string {
  if (flags.precision === 0 && value === 0n) return " ".repeat(flags.width ?? 0);
  const size = value < 0n ? -value : value;
  const sign = value < 0n ? "-" : plusSign(flags);
  const digits = size.toString(base).padStart(leadingZeros(flags, sign), "0");
  const text = sign + prefix(digits, base, verb, flags.sharp) + digits;
  return padSpaces(verb === "X" ? text.toUpperCase() : text, flags);
}

/** The sign of a number that is not negative. */
function plusSign(flags: Flags): string {
  return flags.plus ? "+" : flags.space ? " " : "";
}

/** Minimum number of digits: the precision, as in %.3d, or the width with the zero flag, as in %03d. */
function leadingZeros(flags: Flags, sign: string): number {
  if (flags.precision !== undefined) return flags.precision;
  if (!flags.zero || flags.minus || flags.width === undefined) return 0;
  return flags.width - (sign === "" ? 0 : 1);
}

function prefix(digits: string, base: number, verb: string, sharp: boolean): string {
  const letter = verb === "O" ? "0o" : "";
  if (!sharp) return letter;
  if (base === 2) return "0b";
  if (base === 16) return "0x";
  return base === 8 && !digits.startsWith("0") ? `${letter}0` : letter;
}

function unicodeText(value: bigint, flags: Flags): string {
  const digits = value.toString(16).toUpperCase().padStart(Math.max(4, flags.precision ?? 0), "0");
  const shown = flags.sharp && value <= 0x10ffffn && isPrint(Number(value));
  return padSpaces(`U+${digits}${shown ? ` '${String.fromCodePoint(Number(value))}'` : ""}`, flags);
}

/** The format of each verb. */
const floatForms: Readonly<Record<string, string>> = {
  v: "g",
  b: "b",
  g: "g",
  G: "G",
  x: "x",
  X: "X",
  f: "f",
  F: "f",
  e: "e",
  E: "E",
};

/** Formats a float64 with a floating-point verb; `undefined` for any other verb. */
export function floatText(value: number, verb: string, flags: Flags): string | undefined {
  const form = floatForms[verb];
  if (form === undefined) return undefined;
  // -1 is the shortest text that reads back as the same number.
  const precision = flags.precision ?? (/[fe]/i.test(form) ? 6 : -1);
  const text = formatFloat(value, form, precision);
  if (!Number.isFinite(value)) return padSpaces(infiniteText(text, flags), flags);
  const negative = text.startsWith("-");
  const digits = negative ? text.slice(1) : text;
  const body = flags.sharp && form !== "b" ? withPoint(digits, form, precision) : digits;
  return signedPad(negative ? "-" : plusSign(flags), body, flags);
}

function infiniteText(text: string, flags: Flags): string {
  const sign = plusSign(flags);
  if (text === "NaN") return sign + text;
  return text === "-Inf" ? text : (sign === "" ? "+" : sign) + "Inf";
}

/** Pads a number: zeros go between the sign and the digits, spaces before the sign. */
function signedPad(sign: string, body: string, flags: Flags): string {
  if (sign === "" || !flags.zero || flags.minus || flags.width === undefined) return pad(sign + body, flags);
  return sign + body.padStart(flags.width - 1, "0");
}

/** Applies the sharp flag: always a decimal point, and %g keeps trailing zeros up to the precision (default 6). */
function withPoint(text: string, verb: string, precision: number): string {
  const exponent = text.search(verb === "x" || verb === "X" ? /p/i : /e/i);
  const head = exponent < 0 ? text : text.slice(0, exponent);
  const tail = text.slice(head.length);
  const pointed = head.includes(".") ? head : `${head}.`;
  if (!/[gGx]/.test(verb)) return pointed + tail;
  const wanted = (precision < 0 ? 6 : precision) - significant(head);
  return pointed + "0".repeat(Math.max(wanted, 0)) + tail;
}

/** Number of digits from the first nonzero digit on; a lone 0 counts as one digit. */
function significant(head: string): number {
  if (head === "0") return 1;
  return head.replace(/^[0.]+/, "").replace(/\./, "").length;
}
