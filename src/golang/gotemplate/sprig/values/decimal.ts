/**
 * Decimal arithmetic for sprig's `addf`, `subf`, `mulf` and `divf`: `addf 0.1 0.2` is 0.3. A decimal is
 * `digits * 10^exponent`; division keeps 16 digits after the point, rounded half away from zero.
 */
export interface Decimal {
  readonly digits: bigint;
  readonly exponent: number;
}

/** The shortest decimal of a float. Throws for NaN and infinities. */
export function decimalOf(value: number): Decimal {
  if (!Number.isFinite(value)) {
    const name = Number.isNaN(value) ? "NaN" : value > 0 ? "+Inf" : "-Inf";
    throw new Error(`Cannot create a Decimal from ${name}`);
  }
  const [mantissa = "0", exponent = "0"] = String(value).split("e");
  const [whole = "0", fraction = ""] = mantissa.split(".");
  return { digits: BigInt(whole + fraction), exponent: Number(exponent) - fraction.length };
}

/** The nearest float. */
export function floatOf({ digits, exponent }: Decimal): number {
  return Number(`${digits}e${exponent}`);
}

/** a + b */
export function addDecimal(a: Decimal, b: Decimal): Decimal {
  const exponent = Math.min(a.exponent, b.exponent);
  return { digits: scaled(a, exponent) + scaled(b, exponent), exponent };
}

/** a - b */
export function subtractDecimal(a: Decimal, b: Decimal): Decimal {
  return addDecimal(a, { digits: -b.digits, exponent: b.exponent });
}

/** a * b */
export function multiplyDecimal(a: Decimal, b: Decimal): Decimal {
  return { digits: a.digits * b.digits, exponent: a.exponent + b.exponent };
}

const DIVISION_PLACES = 16;

/** a / b. Throws on division by zero. */
export function divideDecimal(a: Decimal, b: Decimal): Decimal {
  if (b.digits === 0n) throw new Error("decimal division by 0");
  const shift = a.exponent - b.exponent + DIVISION_PLACES;
  const dividend = shift >= 0 ? a.digits * 10n ** BigInt(shift) : a.digits;
  const divisor = shift >= 0 ? b.digits : b.digits * 10n ** BigInt(-shift);
  const quotient = dividend / divisor;
  const rest = dividend % divisor;
  const rounds = 2n * abs(rest) >= abs(divisor);
  const away = (a.digits < 0n) === (b.digits < 0n) ? 1n : -1n;
  return { digits: rounds ? quotient + away : quotient, exponent: -DIVISION_PLACES };
}

function scaled(value: Decimal, exponent: number): bigint {
  return value.digits * 10n ** BigInt(value.exponent - exponent);
}

function abs(value: bigint): bigint {
  return value < 0n ? -value : value;
}
