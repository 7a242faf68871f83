/** Arithmetic modulo a prime. */

/** `base` to the power of `exponent`. */
export function power(base: bigint, exponent: bigint, prime: bigint): bigint {
  let result = 1n;
  for (const bit of exponent.toString(2)) {
    result = result * result % prime;
    if (bit === "1") result = result * base % prime;
  }
  return result;
}

/** The inverse of a number that is no multiple of the prime, by the extended algorithm of Euclid. */
export function inverted(value: bigint, prime: bigint): bigint {
  let [a, b] = [residue(value, prime), prime];
  let [x, y] = [1n, 0n];
  while (a > 1n && b > 0n) {
    const quotient = a / b;
    [a, b] = [b, a - quotient * b];
    [x, y] = [y, x - quotient * y];
  }
  return residue(x, prime);
}

/** The number from 0 to less than the prime. */
export function residue(value: bigint, prime: bigint): bigint {
  const rest = value % prime;
  return rest < 0n ? rest + prime : rest;
}
