import { nodeCrypto } from "../../../base/node_crypto.ts";
import { bits, integer, NULL, oid, sequence } from "../der/der.ts";
import { DerReader } from "../der/der_reader.ts";
import { encodePem } from "../der/pem.ts";
import type { PrivateKey } from "./private_key.ts";

/** The object identifier of RSA keys. */
export const RSA = "1.2.840.113549.1.1.1";
const SHA256_WITH_RSA = "1.2.840.113549.1.1.11";

/** The numbers of a key with two primes (RFC 8017, 3.2). */
interface Numbers {
  readonly n: bigint;
  readonly e: bigint;
  readonly d: bigint;
  readonly p: bigint;
  readonly q: bigint;
}

/** Reads a key from PKCS #1. Throws if the DER is not a key with two primes. */
export function readPkcs1(der: Uint8Array): PrivateKey {
  const outer = new DerReader(der);
  const reader = outer.sequence();
  const version = reader.integer();
  const [n, e, d, p, q] = [reader.integer(), reader.integer(), reader.integer(), reader.integer(), reader.integer()];
  const crt: bigint[] = [];
  while (crt.length < 3 && !reader.atEnd) crt.push(reader.integer());
  const numbers = { n, e, d, p, q };
  // More primes follow as a list.
  if (outer.atEnd && version <= 1n && reader.atEnd && areKey(numbers, crt)) return rsaKey(numbers);
  throw new Error("the numbers of the RSA key do not belong together, or the key has more than two primes");
}

/** Whether numbers are a key: both primes belong to the modulus, and all exponents belong together, as Go requires. */
function areKey({ n, e, d, p, q }: Numbers, crt: readonly bigint[]): boolean {
  if ([n, d, p - 1n, q - 1n, ...crt].some((number) => number <= 0n)) return false;
  const [dp = d % (p - 1n), dq = d % (q - 1n), inverse = inverted(q, p)] = crt;
  return p * q === n && e > 1n && e <= 0x7fffffffn && inverse * q % p === 1n &&
    e * dp % (p - 1n) === 1n && e * dq % (q - 1n) === 1n && d % (p - 1n) === dp && d % (q - 1n) === dq;
}

function rsaKey({ n, e, d, p, q }: Numbers): PrivateKey {
  const numbers = [0n, n, e, d, p, q, d % (p - 1n), d % (q - 1n), inverted(q, p)];
  const pem = encodePem("RSA PRIVATE KEY", sequence(...numbers.map(integer)));
  return {
    pem: () => pem,
    publicKey: () => sequence(sequence(oid(RSA), NULL), bits(sequence(integer(n), integer(e)))),
    algorithm: sequence(oid(SHA256_WITH_RSA), NULL),
    sign: (message) => {
      const size = n.toString(2).length;
      if (size < 1024) throw new Error(`an RSA key of ${size} bits is insecure: use a key of at least 2048 bits`);
      const { createPrivateKey, sign } = nodeCrypto();
      return sign("sha256", message, createPrivateKey(pem));
    },
  };
}

/** The inverse of `value` modulo `prime`, by the extended Euclidean algorithm. */
function inverted(value: bigint, prime: bigint): bigint {
  let [a, b, x, y] = [value % prime, prime, 1n, 0n];
  while (a > 1n && b > 0n) {
    const quotient = a / b;
    [a, b, x, y] = [b, a - quotient * b, y, x - quotient * y];
  }
  return x < 0n ? x + prime : x;
}
