/**
 * Parses and formats resource quantities such as `100m`, `1.5Gi` and `1e3`, exactly at any size.
 * Source of the rules: the documentation of k8s.io/apimachinery/pkg/api/resource.Quantity.
 */

type Format = "decimal" | "binary" | "exponent";

/** The number `mantissa * 10^scale`, the format of its suffix, and the source text if Kubernetes keeps it. */
export interface Quantity {
  readonly mantissa: bigint;
  readonly scale: number;
  readonly format: Format;
  readonly keptText: string | undefined;
}

interface Suffix {
  readonly base: 2 | 10;
  readonly exponent: number;
  readonly format: Format;
}

const DECIMAL = ["n", "u", "m", "", "k", "M", "G", "T", "P", "E"];
const BINARY = ["", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei"];
const SHAPE = /^([+-]?)(\d*)(?:\.(\d*))?((?:[eEinumkKMGTP]+[+-]?\d*)?)$/;
const NANO = -9;
/** Number of decimal digits that always fit an int64. */
const INT64_DIGITS = 18;
/** Maximum number of decimal digits with which Kubernetes computes a binary quantity in int64. */
const BINARY_DIGITS = 14;
const INT64_MAX = (1n << 63n) - 1n;

/** Parses a quantity; returns `undefined` for invalid text. Rounds parts smaller than a nano away from zero. */
export function parseQuantity(text: string): Quantity | undefined {
  const match = text === "" ? null : SHAPE.exec(text);
  const suffix = match === null ? undefined : readSuffix(match[4] ?? "");
  if (match === null || suffix === undefined) return undefined;
  const [, sign = "", digits = "", fraction = ""] = match;
  const whole = digits.replace(/^0+/, "") || "0";
  return fastQuantity({ text, negative: sign === "-", whole, fraction, suffix }) ??
    exactQuantity({ text, negative: sign === "-", whole, fraction, suffix });
}

/**
 * Formats a quantity as Kubernetes does: `1024Mi` becomes `1Gi`, `0.5` becomes `500m`. Returns `undefined` for invalid
 * text.
 */
export function canonicalQuantity(text: string): string | undefined {
  const quantity = parseQuantity(text);
  return quantity === undefined ? undefined : quantityText(quantity);
}

/** Whether a text is a quantity. */
export function isQuantity(text: string): boolean {
  return parseQuantity(text) !== undefined;
}

/** Returns the text of a quantity: the source text if Kubernetes keeps it, otherwise the canonical text. */
export function quantityText(quantity: Quantity): string {
  if (quantity.keptText !== undefined) return quantity.keptText;
  if (quantity.mantissa === 0n) return "0";
  const whole = quantity.format === "binary" ? wholeNumber(quantity) : undefined;
  return whole === undefined || magnitude(whole) < 1024n ? decimalText(quantity) : binaryText(whole);
}

/** Compares quantities: negative if `a` is less than `b`, zero if equal, positive if greater. */
export function compareQuantities(a: Quantity, b: Quantity): number {
  const signs = sign(a.mantissa) - sign(b.mantissa);
  if (signs !== 0 || a.mantissa === 0n) return signs;
  const orders = digitCount(a.mantissa) + a.scale - digitCount(b.mantissa) - b.scale;
  if (orders !== 0) return orders * sign(a.mantissa);
  const scale = Math.min(a.scale, b.scale);
  const difference = a.mantissa * power(10, a.scale - scale) - b.mantissa * power(10, b.scale - scale);
  return sign(difference);
}

/**
 * Returns the quantity in units of `10^scale` (0 for whole units, -3 for milli), rounded away from zero, at most an
 * int64.
 */
export function scaledValue(quantity: Quantity, scale: number): bigint {
  const shift = quantity.scale - scale;
  if (shift >= 0) {
    if (digitCount(quantity.mantissa) + shift > INT64_DIGITS + 2) return clamp(quantity.mantissa * INT64_MAX);
    return clamp(quantity.mantissa * power(10, shift));
  }
  return clamp(divideAwayFromZero(quantity.mantissa, -shift));
}

interface Parts {
  readonly text: string;
  readonly negative: boolean;
  readonly whole: string;
  readonly fraction: string;
  readonly suffix: Suffix;
}

/** Parses numbers that fit an int64. Only these numbers keep their text, if it is canonical. */
function fastQuantity(parts: Parts): Quantity | undefined {
  const quantity = parts.suffix.format === "binary" ? fastBinary(parts) : fastDecimal(parts);
  if (quantity === undefined || quantity.mantissa > INT64_MAX) return undefined;
  return parts.negative ? { ...quantity, mantissa: -quantity.mantissa } : quantity;
}

function fastDecimal({ text, whole, fraction, suffix }: Parts): Quantity | undefined {
  const scale = suffix.exponent - fraction.length;
  if (whole.length + fraction.length > INT64_DIGITS || scale < NANO) return undefined;
  const kept = text === "0" || isCanonical(whole + fraction, scale);
  return { mantissa: BigInt(whole + fraction), scale, format: suffix.format, keptText: kept ? text : undefined };
}

function fastBinary({ text, whole, fraction, suffix }: Parts): Quantity | undefined {
  // Each factor of 2^10 uses about three decimal digits of the int64.
  if (fraction !== "" || whole.length + suffix.exponent * 3 / 10 > BINARY_DIGITS) return undefined;
  const digits = BigInt(whole);
  const kept = (digits & 7n) !== 0n;
  const mantissa = digits << BigInt(suffix.exponent);
  return { mantissa, scale: 0, format: "binary", keptText: kept ? text : undefined };
}

function isCanonical(digits: string, scale: number): boolean {
  return scale % 3 === 0 && !digits.endsWith("000") && !digits.startsWith("0");
}

/** Parses all other numbers exactly, down to nano. Binary quantities are at most an int64. */
function exactQuantity({ negative, whole, fraction, suffix }: Parts): Quantity {
  const binary = suffix.base === 2;
  let mantissa = BigInt(whole + fraction) * (binary ? 1n << BigInt(suffix.exponent) : 1n);
  let scale = (binary ? 0 : suffix.exponent) - fraction.length;
  if (scale < NANO) {
    mantissa = divideAwayFromZero(mantissa, NANO - scale);
    scale = NANO;
  }
  if (binary && compareQuantities({ mantissa, scale, format: "binary", keptText: undefined }, INT64_LIMIT) > 0) {
    ({ mantissa, scale } = INT64_LIMIT);
  }
  return { mantissa: negative ? -mantissa : mantissa, scale, format: suffix.format, keptText: undefined };
}

const INT64_LIMIT: Quantity = { mantissa: INT64_MAX, scale: 0, format: "binary", keptText: undefined };

function readSuffix(text: string): Suffix | undefined {
  const decimal = DECIMAL.indexOf(text);
  if (decimal >= 0) return { base: 10, exponent: (decimal - 3) * 3, format: "decimal" };
  const binary = BINARY.indexOf(text);
  if (binary > 0) return { base: 2, exponent: binary * 10, format: "binary" };
  if (!/^[eE][+-]?\d{1,9}$/.test(text)) return undefined;
  return { base: 10, exponent: Number(text.slice(1)), format: "exponent" };
}

function wholeNumber({ mantissa, scale }: Quantity): bigint | undefined {
  if (scale >= 0) return mantissa * power(10, scale);
  const unit = power(10, -scale);
  return mantissa % unit === 0n ? mantissa / unit : undefined;
}

function decimalText(quantity: Quantity): string {
  let { mantissa, scale } = quantity;
  while (mantissa % 10n === 0n) {
    mantissa /= 10n;
    scale++;
  }
  const surplus = ((scale % 3) + 3) % 3;
  mantissa *= power(10, surplus);
  scale -= surplus;
  const suffix = quantity.format === "exponent" ? undefined : DECIMAL[scale / 3 + 3];
  return `${mantissa}${suffix ?? (scale === 0 ? "" : `e${scale}`)}`;
}

function binaryText(value: bigint): string {
  let mantissa = value;
  let steps = 0;
  while (mantissa % 1024n === 0n && steps < BINARY.length - 1) {
    mantissa /= 1024n;
    steps++;
  }
  return `${mantissa}${BINARY[steps]}`;
}

function divideAwayFromZero(value: bigint, decimals: number): bigint {
  if (value === 0n) return 0n;
  if (decimals >= digitCount(value)) return BigInt(sign(value));
  const unit = power(10, decimals);
  const rest = value % unit;
  return value / unit + BigInt(sign(rest));
}

function digitCount(value: bigint): number {
  return magnitude(value).toString().length;
}

function magnitude(value: bigint): bigint {
  return value < 0n ? -value : value;
}

function sign(value: bigint): number {
  return value === 0n ? 0 : value < 0n ? -1 : 1;
}

function clamp(value: bigint): bigint {
  if (magnitude(value) <= INT64_MAX) return value;
  return value < 0n ? -INT64_MAX : INT64_MAX;
}

function power(base: number, exponent: number): bigint {
  return BigInt(base) ** BigInt(exponent);
}
