import { kindOf, typeOf } from "../kind.ts";
import { GoInt, type GoValue } from "../../go_value.ts";
import { type Flags, noFlags } from "./flags.ts";
import { formatValue } from "./print.ts";
import { validRune } from "./quote.ts";

/** Maximum width or precision. */
const largest = 1_000_000;

/** The state of reading a format. */
interface Reader {
  readonly format: string;
  readonly args: readonly GoValue[];
  at: number;
  argument: number;
  /** Whether a verb named its argument by index. If so, unused arguments are allowed. */
  reordered: boolean;
  goodIndex: boolean;
  out: string;
}

/**
 * `fmt.Sprintf` with every verb, flag, width, precision and argument index of Go. A mistake is not an error but a note
 * in the text: `%!d(string=x)`, `%!d(MISSING)`, `%!(EXTRA int=1)`, `%!(NOVERB)`, `%!(BADWIDTH)`, `%!(BADPREC)`,
 * `%!d(BADINDEX)`.
 */
export function sprintf(format: string, args: readonly GoValue[]): string {
  const reader: Reader = { format, args, at: 0, argument: 0, reordered: false, goodIndex: true, out: "" };
  for (;;) {
    const percent = format.indexOf("%", reader.at);
    if (percent < 0) break;
    reader.out += format.slice(reader.at, percent);
    reader.at = percent + 1;
    if (!readVerb(reader)) return reader.out + "%!(NOVERB)" + extra(reader);
  }
  return reader.out + format.slice(reader.at) + extra(reader);
}

/** Reads one verb with its flags. Returns false if the format ends without a verb. */
function readVerb(reader: Reader): boolean {
  const flags = noFlags();
  reader.goodIndex = true;
  readFlags(reader, flags);
  let indexed = readIndex(reader);
  indexed = readWidth(reader, flags, indexed);
  indexed = readPrecision(reader, flags, indexed);
  if (!indexed) readIndex(reader);
  const code = reader.format.codePointAt(reader.at);
  if (code === undefined) return false;
  reader.at += code > 0xffff ? 2 : 1;
  writeVerb(reader, String.fromCodePoint(validRune(code)), flags);
  return true;
}

function writeVerb(reader: Reader, verb: string, flags: Flags): void {
  if (verb === "%") reader.out += "%";
  else if (!reader.goodIndex) reader.out += `%!${verb}(BADINDEX)`;
  else if (reader.argument >= reader.args.length) reader.out += `%!${verb}(MISSING)`;
  else {
    const value = reader.args[reader.argument++] ?? null;
    reader.out += formatValue(value, verb, verb === "v" || verb === "w" ? goSyntax(flags) : flags);
  }
}

/** The flags of %v, where # means Go syntax and + means field names. */
function goSyntax(flags: Flags): Flags {
  return { ...flags, sharpV: flags.sharp, sharp: false, plusV: flags.plus, plus: false };
}

function readFlags(reader: Reader, flags: Flags): void {
  for (;; reader.at++) {
    const flag = FLAGS[reader.format.charAt(reader.at)];
    if (flag === undefined) return;
    flags[flag] = true;
  }
}

const FLAGS: Readonly<Record<string, "sharp" | "zero" | "plus" | "minus" | "space">> = {
  "#": "sharp",
  "0": "zero",
  "+": "plus",
  "-": "minus",
  " ": "space",
};

/** Reads an argument index such as `[3]`. Returns true if the format has an index, even an invalid one. */
function readIndex(reader: Reader): boolean {
  if (reader.format.charAt(reader.at) !== "[") return false;
  reader.reordered = true;
  const close = reader.format.indexOf("]", reader.at);
  if (close < 0) {
    reader.at += 1;
    reader.goodIndex = false;
    return false;
  }
  const number = numberOf(reader.format.slice(reader.at + 1, close));
  reader.at = close + 1;
  const good = number !== undefined && number >= 1 && number <= reader.args.length;
  if (good) reader.argument = number - 1;
  else reader.goodIndex = false;
  return number !== undefined;
}

function numberOf(text: string): number | undefined {
  if (!/^[0-9]+$/.test(text)) return undefined;
  const value = Number(text);
  return value / 10 > largest + 1 ? undefined : value;
}

function readNumber(reader: Reader): number | undefined {
  const digits = /^[0-9]*/.exec(reader.format.slice(reader.at, reader.at + 8))?.[0] ?? "";
  if (digits === "") return undefined;
  if (digits.length > 7) {
    reader.at = reader.format.length;
    return undefined;
  }
  reader.at += digits.length;
  return Number(digits);
}

function readWidth(reader: Reader, flags: Flags, indexed: boolean): boolean {
  if (reader.format.charAt(reader.at) === "*") {
    reader.at++;
    const width = nextInteger(reader);
    if (width === undefined) reader.out += "%!(BADWIDTH)";
    else if (width < 0) Object.assign(flags, { minus: true, zero: false, width: -width });
    else flags.width = width;
    return false;
  }
  flags.width = readNumber(reader);
  if (indexed && flags.width !== undefined) reader.goodIndex = false;
  return indexed;
}

function readPrecision(reader: Reader, flags: Flags, indexed: boolean): boolean {
  if (reader.format.charAt(reader.at) !== "." || reader.at + 1 >= reader.format.length) return indexed;
  reader.at++;
  if (indexed) reader.goodIndex = false;
  const again = readIndex(reader);
  if (reader.format.charAt(reader.at) !== "*") {
    flags.precision = readNumber(reader) ?? 0;
    return again;
  }
  reader.at++;
  const precision = nextInteger(reader);
  if (precision === undefined || precision < 0) reader.out += "%!(BADPREC)";
  else flags.precision = precision;
  return false;
}

/** Reads the argument of a `*`: an integer of any type, within the limits of a width or precision. */
function nextInteger(reader: Reader): number | undefined {
  const value = reader.args[reader.argument];
  if (reader.argument < reader.args.length) reader.argument++;
  const integer = value instanceof GoInt ? value.value : value;
  if (typeof integer !== "bigint" || integer > BigInt(largest) || integer < -BigInt(largest)) return undefined;
  return Number(integer);
}

function extra(reader: Reader): string {
  if (reader.reordered || reader.argument >= reader.args.length) return "";
  const rest = reader.args.slice(reader.argument).map((value) =>
    kindOf(value) === "invalid" ? "<nil>" : `${typeOf(value)}=${formatValue(value, "v", noFlags())}`
  );
  return `%!(EXTRA ${rest.join(", ")})`;
}
