import { quote } from "../fmt/quote.ts";
import { MAX_CHARACTERS, parseFloat64, parseInteger } from "../strconv.ts";
import { unquoteCharacter } from "../../unquote.ts";

/** A number constant, with its value in each type that its text allows. */
interface Constant {
  /** The value as an int64, if the number is integral (`1.0` and `1e3` are). */
  readonly int: bigint | undefined;
  /** The value as a uint64, if the number is integral and not negative. */
  readonly uint: bigint | undefined;
  readonly float: number;
  /** Whether the number is a float64 if no type is required: its text has a point or exponent. */
  readonly isFloat: boolean;
}

/**
 * Parses a number of at most a million characters, or a character constant. For any other text, throws an Error with
 * Go's message.
 */
export function constantOf(text: string): Constant {
  return text.startsWith("'") ? parseCharacter(text) : parseNumber(text);
}

function parseNumber(text: string): Constant {
  if (text.length > MAX_CHARACTERS) throw new Error(`illegal number syntax: ${text.length} characters`);
  const isHexInteger = /^0[xX]/.test(text) && !/[pP]/.test(text);
  const isFloat = !isHexInteger && /[.eEpP]/.test(text);
  const whole = parseInteger(text);
  if (whole !== undefined && whole >= -(1n << 63n) && whole < 1n << 64n) {
    return { ...ints(whole), float: Number(whole), isFloat };
  }
  const float = parseFloat64(text);
  if (float === undefined) throw new Error(`illegal number syntax: ${quote(text)}`);
  if (!/[.eEpP]/.test(text)) throw new Error(`integer overflow: ${quote(text)}`);
  const integral = Number.isInteger(float) ? ints(BigInt(float)) : { int: undefined, uint: undefined };
  return { ...integral, float, isFloat };
}

function ints(value: bigint): Pick<Constant, "int" | "uint"> {
  return {
    int: BigInt.asIntN(64, value) === value ? value : undefined,
    uint: BigInt.asUintN(64, value) === value ? value : undefined,
  };
}

/** Parses a character constant such as `'a'` or `'\n'`. */
function parseCharacter(text: string): Constant {
  const one = unquoteCharacter(text.slice(1), "'");
  if (one === undefined) throw new Error("invalid syntax");
  if (text.slice(1 + one.length) !== "'") throw new Error(`malformed character constant: ${text}`);
  return { ...ints(BigInt(one.code)), float: one.code, isFloat: false };
}
