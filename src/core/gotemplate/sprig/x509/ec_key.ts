/** ECDSA private keys on the curves of NIST, in the form of SEC 1. */
import { nodeCrypto } from "../node_crypto.ts";
import { bits, explicit, integer, numberOf, octets, oid, sequence, TAG, unsignedBytes } from "./der.ts";
import { DerReader } from "./der_reader.ts";
import { encodePem } from "./pem.ts";
import type { PrivateKey } from "./private_key.ts";

const EC = "1.2.840.10045.2.1";

interface Curve {
  readonly id: string;
  /** Bytes of a scalar. */
  readonly size: number;
  readonly order: bigint;
  readonly hash: string;
  /** The identifier of ECDSA with that hash. */
  readonly signature: string;
}

const SHA256 = { hash: "sha256", signature: "1.2.840.10045.4.3.2" };
const SHA384 = { hash: "sha384", signature: "1.2.840.10045.4.3.3" };

/** The curves that node:crypto has here, with the hashes that Go's x509 takes for them. */
const CURVES: readonly Curve[] = [
  { id: "1.3.132.0.33", size: 28, order: 0xffffffffffffffffffffffffffff16a2e0b8f03e13dd29455c5c2a3dn, ...SHA256 },
  {
    id: "1.2.840.10045.3.1.7",
    size: 32,
    order: 0xffffffff00000000ffffffffffffffffbce6faada7179e84f3b9cac2fc632551n,
    ...SHA256,
  },
  {
    id: "1.3.132.0.34",
    size: 48,
    order: 0xffffffffffffffffffffffffffffffffffffffffffffffffc7634d81f4372ddf581a0db248b0a77aecec196accc52973n,
    ...SHA384,
  },
];
const P256 = "1.2.840.10045.3.1.7";
const P521 = "1.3.132.0.35";

/** What is in the SEQUENCE of SEC 1. Errors: those of asn1.Unmarshal. */
export function sec1Shape(der: Uint8Array) {
  const reader = new DerReader(der).sequence("ecPrivateKey");
  const version = reader.integer("int");
  const scalar = reader.take(TAG.octets).content;
  const named = reader.optional(0xa0);
  return { version, scalar, curve: named === undefined ? undefined : new DerReader(named.content).oid() };
}

/** A key from SEC 1; `curve` is told by what is around it, if anything. Errors: it is none, or of an unknown curve. */
export function readSec1(der: Uint8Array, curve?: string): PrivateKey {
  const { version, scalar, curve: named = "" } = sec1Shape(der);
  if (version !== 1n) throw new Error(`x509: unknown EC private key version ${version}`);
  return ecKey(curveOf(curve ?? named), scalar);
}

function curveOf(id: string): Curve {
  if (id === P521) throw new Error("keys on the curve P-521 are not available; use one on P-256 or P-384");
  const curve = CURVES.find((each) => each.id === id);
  if (curve === undefined) throw new Error("x509: unknown elliptic curve");
  return curve;
}

/** Leading zeros of the scalar may be too many or missing: both have been written. */
function ecKey(curve: Curve, bytes: Uint8Array): PrivateKey {
  const value = numberOf(bytes);
  if (value >> BigInt(curve.size * 8) > 0n) throw new Error("x509: invalid private key length");
  if (value === 0n || value === curve.order) throw new Error("ecdsa: invalid public key encoding");
  if (value > curve.order) throw new Error("input overflows the modulus");
  const scalar = unsignedBytes(value, curve.size);
  const pem = pkcs8Pem(curve, sequence(integer(1), octets(scalar)));
  const point = publicPoint(curve, pem);
  const sec1 = sequence(integer(1), octets(scalar), explicit(0, oid(curve.id)), explicit(1, bits(point)));
  return {
    pem: () => encodePem("EC PRIVATE KEY", sec1),
    publicKey: () => sequence(sequence(oid(EC), oid(curve.id)), bits(point)),
    signer: {
      algorithm: sequence(oid(curve.signature)),
      sign: (message) => nodeCrypto().sign(curve.hash, message, nodeCrypto().createPrivateKey(pem)),
    },
  };
}

/** The form that node:crypto reads here: it does not read SEC 1, and writes it without the name of the curve. */
function pkcs8Pem(curve: Curve, key: Uint8Array): string {
  return encodePem("PRIVATE KEY", sequence(integer(0), sequence(oid(EC), oid(curve.id)), octets(key)));
}

function publicPoint(curve: Curve, pem: string): Uint8Array {
  const info = nodeCrypto().createPublicKey(pem).export({ type: "spki", format: "der" });
  return info.subarray(-2 * curve.size - 1);
}

/** A fresh key on P-256. */
export function generateEcKey(): PrivateKey {
  const curve = curveOf(P256);
  for (;;) {
    const scalar = crypto.getRandomValues(new Uint8Array(curve.size));
    const value = numberOf(scalar);
    if (value > 0n && value < curve.order) return ecKey(curve, scalar);
  }
}
