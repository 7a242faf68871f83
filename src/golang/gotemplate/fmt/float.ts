/** Floating-point numbers as Go's `strconv.FormatFloat` writes them. */
import { trimmedEnd } from "../../../base/text/mod.ts";

/** Decimal digits and the position of the point: `digits` "1234" with `point` 2 is 12.34. */
interface Decimal {
  readonly digits: string;
  readonly point: number;
}

/**
 * The text of a float64 without a plus sign. `verb` is one of b, e, E, f, g, G, x, X; precision -1 is the shortest text
 * that reads back as the same number.
 */
export function formatFloat(value: number, verb: string, precision: number): string {
  if (Number.isNaN(value)) return "NaN";
  const sign = value < 0 || Object.is(value, -0) ? "-" : "";
  if (!Number.isFinite(value)) return value < 0 ? "-Inf" : "+Inf";
  const size = Math.abs(value);
  if (verb === "b") return sign + binary(size);
  if (verb === "x" || verb === "X") return sign + hexadecimal(size, verb, precision);
  return sign + decimal(size, verb, precision);
}

function decimal(size: number, verb: string, precision: number): string {
  const kept = precision < 0 ? shortest(size) : rounded(size, verb, precision);
  if (verb === "e" || verb === "E") {
    return exponential(kept, precision < 0 ? kept.digits.length - 1 : precision, verb);
  }
  if (verb === "f") return fixed(kept, precision < 0 ? Math.max(kept.digits.length - kept.point, 0) : precision);
  return general(kept, precision, verb);
}

/**
 * %g: uses the exponent form if the exponent is below -4, or at least the precision. For the shortest text, the
 * precision counts as 6 here.
 */
function general(kept: Decimal, precision: number, verb: string): string {
  const count = kept.digits.length;
  const exponent = kept.point - 1;
  if (exponent < -4 || exponent >= exponentLimit(kept, precision)) {
    return exponential(kept, count - 1, verb === "G" ? "E" : "e");
  }
  return fixed(kept, Math.max(count - kept.point, 0));
}

function exponentLimit(kept: Decimal, precision: number): number {
  if (precision < 0) return 6;
  const wanted = Math.max(precision, 1);
  const count = kept.digits.length;
  return wanted > count && count >= kept.point ? count : wanted;
}

function shortest(size: number): Decimal {
  if (size === 0) return { digits: "", point: 0 };
  const [mantissa = "0", exponent = "0"] = size.toExponential().split("e");
  return { digits: mantissa.replace(".", ""), point: Number(exponent) + 1 };
}

/** The exact decimal value rounded half to even at the verb's precision, without trailing zeros. */
function rounded(size: number, verb: string, precision: number): Decimal {
  if (size === 0) return { digits: "", point: 0 };
  const exact = exactDecimal(size);
  const keep = verb === "f"
    ? exact.point + precision
    : verb === "g" || verb === "G"
    ? Math.max(precision, 1)
    : precision + 1;
  return trimmed(roundAt(exact, keep));
}

function trimmed(value: Decimal): Decimal {
  const digits = trimmedEnd(value.digits, "0");
  return { digits, point: digits === "" ? 0 : value.point };
}

function roundAt(exact: Decimal, keep: number): Decimal {
  if (keep >= exact.digits.length) return exact;
  if (keep < 0) return { digits: "", point: 0 };
  const head = exact.digits.slice(0, keep);
  const tail = exact.digits.slice(keep);
  if (!roundsUp(head, tail)) return { digits: head, point: exact.point };
  const up = (BigInt(`0${head}`) + 1n).toString().padStart(keep, "0");
  return { digits: up, point: exact.point + (up.length - keep) };
}

function roundsUp(head: string, tail: string): boolean {
  const first = tail.charCodeAt(0) - 48;
  if (first !== 5) return first > 5;
  if (/[1-9]/.test(tail.slice(1))) return true;
  return head !== "" && (head.charCodeAt(head.length - 1) & 1) === 1;
}

/** Mantissa (a 53-bit integer) and exponent: value = mantissa * 2^exponent. */
function parts(size: number): { mantissa: bigint; exponent: number } {
  const view = new DataView(new ArrayBuffer(8));
  view.setFloat64(0, size);
  const bits = view.getBigUint64(0);
  const biased = Number(bits >> 52n);
  const fraction = bits & 0xfffffffffffffn;
  return biased === 0
    ? { mantissa: fraction, exponent: -1074 }
    : { mantissa: fraction | 0x10000000000000n, exponent: biased - 1075 };
}

function exactDecimal(size: number): Decimal {
  const { mantissa, exponent } = parts(size);
  if (exponent >= 0) {
    const digits = (mantissa << BigInt(exponent)).toString();
    return { digits, point: digits.length };
  }
  const digits = (mantissa * 5n ** BigInt(-exponent)).toString();
  return { digits, point: digits.length + exponent };
}

function exponential(value: Decimal, precision: number, mark: string): string {
  const digits = value.digits === "" ? "0" : value.digits;
  const exponent = value.digits === "" ? 0 : value.point - 1;
  const fraction = digits.slice(1, precision + 1).padEnd(Math.max(precision, 0), "0");
  const point = precision > 0 ? `.${fraction}` : "";
  return `${digits.charAt(0)}${point}${mark}${signedExponent(exponent)}`;
}

function signedExponent(exponent: number): string {
  return (exponent < 0 ? "-" : "+") + Math.abs(exponent).toString().padStart(2, "0");
}

function fixed(value: Decimal, precision: number): string {
  const { digits, point } = value;
  const whole = point > 0 ? digits.slice(0, point).padEnd(point, "0") : "0";
  if (precision <= 0) return whole;
  const zeros = "0".repeat(Math.min(Math.max(-point, 0), precision));
  const fraction = (zeros + digits.slice(Math.max(point, 0))).slice(0, precision).padEnd(precision, "0");
  return `${whole}.${fraction}`;
}

function binary(size: number): string {
  const { mantissa, exponent } = parts(size);
  return `${mantissa}p${exponent < 0 ? "" : "+"}${exponent}`;
}

/** %x: 0x1.8p+01, the mantissa normalised to 1.x, rounded half to even at `precision` hexadecimal digits. */
function hexadecimal(size: number, verb: string, precision: number): string {
  let { mantissa, exponent } = parts(size);
  if (mantissa === 0n) exponent = 0;
  else {
    const shift = 53 - mantissa.toString(2).length;
    mantissa <<= BigInt(shift);
    exponent += 52 - shift;
  }
  mantissa <<= 8n;
  if (precision >= 0 && precision < 15) {
    mantissa = roundBits(mantissa, BigInt((15 - precision) * 4));
    if (mantissa >> 61n !== 0n) {
      mantissa >>= 1n;
      exponent++;
    }
  }
  const all = mantissa.toString(16).padStart(16, "0");
  const digits = precision < 0 ? trimmedEnd(all.slice(1), "0") : all.slice(1, precision + 1).padEnd(precision, "0");
  const text = `0x${all.charAt(0)}${digits === "" ? "" : `.${digits}`}p${signedExponent(exponent)}`;
  return verb === "X" ? text.toUpperCase() : text;
}

function roundBits(value: bigint, bits: bigint): bigint {
  const half = 1n << (bits - 1n);
  const rest = value & ((1n << bits) - 1n);
  const floor = value - rest;
  const up = rest > half || (rest === half && ((floor >> bits) & 1n) === 1n);
  return up ? floor + (1n << bits) : floor;
}
