/**
 * ECDSA on the curve P-521 (FIPS 186-5, SP 800-186), which node:crypto does not have here. A multiplication takes some
 * 10 ms, and not the same time for every number: for keys that a template of the user's own holds, nothing else.
 */
import { nodeCrypto } from "../node_crypto.ts";
import { integer, numberOf, sequence, unsignedBytes } from "./der.ts";
import { joinBytes } from "../bytes.ts";
import { inverted, residue } from "./modular.ts";

const SIZE = 66;
const PRIME = (1n << 521n) - 1n;

/** The number of points that the base point generates. */
export const P521_ORDER =
  0x01fffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffa51868783bf2f966b7fcc0148f709a5d03bb5c9b8899c47aebb6fb71e91386409n;

/** A point in Jacobian coordinates: x/z², y/z³; `z` is 0 for the point at infinity. */
interface Point {
  readonly x: bigint;
  readonly y: bigint;
  readonly z: bigint;
}

const BASE: Point = {
  x: 0x00c6858e06b70404e9cd9e3ecb662395b4429c648139053fb521f828af606b4d3dbaa14b5e77efe75928fe1dc127a2ffa8de3348b3c1856a429bf97e7e31c2e5bd66n,
  y: 0x011839296a789a3bc0045c8a5fb42c7d1bd998f54449579b446817afbd17273e662c97ee72995ef42640c550b9013fad0761353c7086a272c24088be94769fd16650n,
  z: 1n,
};

const INFINITY: Point = { x: 1n, y: 1n, z: 0n };

/** The public point of a private number, uncompressed. */
export function p521Point(scalar: bigint): Uint8Array {
  const [x, y] = affine(multiplied(scalar));
  return joinBytes([Uint8Array.of(4), unsignedBytes(x, SIZE), unsignedBytes(y, SIZE)]);
}

/** The signature with SHA-512 in DER. */
export function p521Sign(message: Uint8Array, scalar: bigint): Uint8Array {
  const hash = numberOf(nodeCrypto().createHash("sha512").update(message).digest());
  for (;;) {
    const nonce = numberOf(crypto.getRandomValues(new Uint8Array(SIZE))) & PRIME;
    if (nonce === 0n || nonce >= P521_ORDER) continue;
    const r = affine(multiplied(nonce))[0] % P521_ORDER;
    const s = inverted(nonce, P521_ORDER) * (hash + r * scalar) % P521_ORDER;
    if (r !== 0n && s !== 0n) return sequence(integer(r), integer(s));
  }
}

function multiplied(scalar: bigint): Point {
  let point = INFINITY;
  for (const bit of scalar.toString(2)) {
    point = doubled(point);
    if (bit === "1") point = added(point);
  }
  return point;
}

function affine({ x, y, z }: Point): readonly [x: bigint, y: bigint] {
  const inverse = inverted(z, PRIME);
  const square = inverse * inverse % PRIME;
  return [x * square % PRIME, y * square * inverse % PRIME];
}

/** "dbl-2001-b" of the Explicit-Formulas Database, for curves with a = -3. */
function doubled({ x, y, z }: Point): Point {
  const delta = z * z % PRIME;
  const gamma = y * y % PRIME;
  const beta = x * gamma % PRIME;
  const alpha = 3n * (x - delta) * (x + delta) % PRIME;
  const x3 = residue(alpha * alpha - 8n * beta, PRIME);
  return {
    x: x3,
    y: residue(alpha * (4n * beta - x3) - 8n * gamma * gamma, PRIME),
    z: residue((y + z) ** 2n - gamma - delta, PRIME),
  };
}

/** "madd" with the base point. While a number below the order is multiplied, the two are never the same or opposite. */
function added({ x, y, z }: Point): Point {
  if (z === 0n) return BASE;
  const square = z * z % PRIME;
  const h = residue(BASE.x * square - x, PRIME);
  const r = residue(BASE.y * square * z - y, PRIME);
  const h2 = h * h % PRIME;
  const h3 = h2 * h % PRIME;
  const v = x * h2 % PRIME;
  const x3 = residue(r * r - h3 - 2n * v, PRIME);
  return { x: x3, y: residue(r * (v - x3) - y * h3, PRIME), z: z * h % PRIME };
}
