/** Parses numbers as Go's strconv does with base 0: base prefixes such as `0x`, and underscores between digits. */

/** Maximum characters of a number. Patterns that repeat a group exhaust V8's stack at about 16 million characters. */
export const MAX_CHARACTERS = 1_000_000;

const DIGITS = "\\d(?:_?\\d)*";
const INTEGER = /^([+-]?)(?:0[xX]((?:_?[\da-fA-F])+)|0[bB]((?:_?[01])+)|0[oO]?((?:_?[0-7])+)|([1-9](?:_?\d)*|0))$/;
const DECIMAL = new RegExp(`^[+-]?(?:${DIGITS}(?:\\.(?:${DIGITS})?)?|\\.${DIGITS})(?:e[+-]?${DIGITS})?$`, "i");
const HEXADECIMAL = /^([+-]?)0x((?:_?[\da-f])*)(?:\.((?:[\da-f]_?)*))?p([+-]?\d+)$/i;
const SPECIAL = /^([+-]?)(inf|infinity|nan)$/i;

/** Parses an integer of any size; `undefined` for any other text. */
export function parseInteger(text: string): bigint | undefined {
  if (text.length > MAX_CHARACTERS) return undefined;
  const [match, sign, hex, binary, octal, decimal = "0"] = INTEGER.exec(text) ?? [];
  if (match === undefined) return undefined;
  const prefixed = hex !== undefined ? `0x${hex}` : binary !== undefined ? `0b${binary}` : octal && `0o${octal}`;
  const size = BigInt((prefixed ?? decimal).replaceAll("_", ""));
  return sign === "-" ? -size : size;
}

/** strconv.ParseFloat; `undefined` for an invalid text and for numbers beyond float64. */
export function parseFloat64(text: string): number | undefined {
  if (text.length > MAX_CHARACTERS) return undefined;
  if (DECIMAL.test(text)) return finite(Number(text.replaceAll("_", "")));
  const [, sign, word] = SPECIAL.exec(text) ?? [];
  if (word === undefined) return parseHexFloat(text);
  if (word.toLowerCase() === "nan") return sign === "" ? NaN : undefined;
  return sign === "-" ? -Infinity : Infinity;
}

function parseHexFloat(text: string): number | undefined {
  const [match, sign, whole = "", fraction = "", exponent] = HEXADECIMAL.exec(text) ?? [];
  const digits = (whole + fraction).replaceAll("_", "");
  if (match === undefined || digits === "") return undefined;
  const scale = Number(exponent) - 4 * fraction.replaceAll("_", "").length;
  return finite(Number(BigInt("0x" + digits)) * 2 ** scale * (sign === "-" ? -1 : 1));
}

function finite(value: number): number | undefined {
  return Number.isFinite(value) ? value : undefined;
}
