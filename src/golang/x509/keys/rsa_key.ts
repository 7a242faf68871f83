/** RSA private keys in PKCS #1 format, with the checks of Go's crypto/rsa. */
import { nodeCrypto } from "../../../base/node_crypto.ts";
import { bits, integer, NULL, oid, sequence } from "../der/der.ts";
import { DerReader } from "../der/der_reader.ts";
import { encodePem } from "../der/pem.ts";
import type { PrivateKey } from "./private_key.ts";

const RSA = "1.2.840.113549.1.1.1";
const SHA256_WITH_RSA = "1.2.840.113549.1.1.11";

/** The numbers of an RSA key with two primes. */
interface Numbers {
  readonly n: bigint;
  readonly e: bigint;
  readonly d: bigint;
  readonly p: bigint;
  readonly q: bigint;
}

/** Reads the fields of PKCS #1. Throws with the errors of asn1.Unmarshal. */
export function pkcs1Shape(der: Uint8Array) {
  const outer = new DerReader(der);
  const reader = outer.sequence("pkcs1PrivateKey");
  if (!outer.atEnd) throw new Error("asn1: syntax error: trailing data");
  const version = reader.integer("int");
  const n = reader.integer();
  const e = reader.integer("int");
  const [d, p, q] = [reader.integer(), reader.integer(), reader.integer()];
  const crt: bigint[] = [];
  while (crt.length < 3 && !reader.atEnd) crt.push(reader.integer());
  return { version, numbers: { n, e, d, p, q }, crt, hasMorePrimes: !reader.atEnd };
}

/** Reads a key from PKCS #1. Throws if the DER is not a key or Go refuses the key. */
export function readPkcs1(der: Uint8Array): PrivateKey {
  const { version, numbers, crt, hasMorePrimes } = pkcs1Shape(der);
  if (version > 1n) throw new Error("x509: unsupported private key version");
  const { n, d, p, q } = numbers;
  if ([n, d, p, q, ...crt].some((number) => number <= 0n)) {
    throw new Error("x509: private key contains zero or negative value");
  }
  if (hasMorePrimes) throw new Error("RSA keys with more than two primes are not supported: use a key with two primes");
  if (p === 1n || q === 1n) throw new Error("modulus must be > 1");
  const problem = publicProblem(numbers) ?? privateProblem(numbers, crt);
  if (problem !== undefined) throw new Error(`crypto/rsa: ${problem}`);
  return rsaKey(numbers);
}

function publicProblem({ n, e }: Numbers): string | undefined {
  if (n % 2n === 0n) return "public modulus is even";
  if (e < 2n) return "public exponent too small or negative";
  if (e % 2n === 0n) return "public exponent is even";
  return e > 0x7fffffffn ? "public exponent too large" : undefined;
}

function privateProblem({ n, e, d, p, q }: Numbers, crt: readonly bigint[]): string | undefined {
  if (p >= n || q >= n) return "invalid prime";
  if (p * q !== n) return "p * q != n";
  const [dp = d % (p - 1n), dq = d % (q - 1n), inverse] = crt;
  if (e * dp % (p - 1n) !== 1n || e * dq % (q - 1n) !== 1n) return "invalid CRT exponent";
  if (inverse !== undefined && inverse * q % p !== 1n) return "invalid CRT coefficient";
  if (d % (p - 1n) !== dp) return "d does not match dP";
  return d % (q - 1n) === dq ? undefined : "d does not match dQ";
}

function rsaKey({ n, e, d, p, q }: Numbers): PrivateKey {
  const numbers = [0n, n, e, d, p, q, d % (p - 1n), d % (q - 1n), inverted(q, p)];
  const der = sequence(...numbers.map(integer));
  return {
    pem: () => encodePem("RSA PRIVATE KEY", der),
    publicKey: () => sequence(sequence(oid(RSA), NULL), bits(sequence(integer(n), integer(e)))),
    signer: {
      algorithm: sequence(oid(SHA256_WITH_RSA), NULL),
      sign: (message) => {
        refuseShort(n.toString(2).length);
        const { createPrivateKey, sign } = nodeCrypto();
        return sign("sha256", message, createPrivateKey(encodePem("RSA PRIVATE KEY", der)));
      },
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

function refuseShort(size: number): void {
  if (size >= 1024) return;
  const guide = "https://go.dev/pkg/crypto/rsa#hdr-Minimum_key_size";
  throw new Error(`crypto/rsa: ${size}-bit keys are insecure (see ${guide})`);
}
