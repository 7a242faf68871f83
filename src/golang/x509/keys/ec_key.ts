import { nodeCrypto } from "../../../base/node_crypto.ts";
import { bits, explicit, integer, numberOf, octets, oid, sequence, TAG, unsignedBytes } from "../der/der.ts";
import { DerReader } from "../der/der_reader.ts";
import { P521_ID, p521Library } from "./p521.ts";
import { encodePem } from "../der/pem.ts";
import type { PrivateKey } from "./private_key.ts";

/** The object identifier of keys on elliptic curves. */
export const EC = "1.2.840.10045.2.1";

interface Curve {
  readonly id: string;
  /** Size of a scalar, in bytes. */
  readonly size: number;
  readonly order: bigint;
  /** The object identifier of ECDSA with the hash that Go's x509 uses for the curve. */
  readonly signature: string;
  /** The public point of a scalar, uncompressed. */
  readonly point: (scalar: Uint8Array, curve: Curve) => Uint8Array;
  readonly sign: (scalar: Uint8Array, message: Uint8Array, curve: Curve) => Uint8Array;
}

const SHA256 = { signature: "1.2.840.10045.4.3.2", point: nodePoint, sign: nodeSigner("sha256") };
const SHA384 = { signature: "1.2.840.10045.4.3.3", point: nodePoint, sign: nodeSigner("sha384") };
const P256 = "1.2.840.10045.3.1.7";
const P384 = "1.3.132.0.34";

const CURVES: readonly Curve[] = [
  { id: "1.3.132.0.33", size: 28, order: 0xffffffffffffffffffffffffffff16a2e0b8f03e13dd29455c5c2a3dn, ...SHA256 },
  { id: P256, size: 32, order: 0xffffffff00000000ffffffffffffffffbce6faada7179e84f3b9cac2fc632551n, ...SHA256 },
  {
    id: P384,
    size: 48,
    order: 0xffffffffffffffffffffffffffffffffffffffffffffffffc7634d81f4372ddf581a0db248b0a77aecec196accc52973n,
    ...SHA384,
  },
  {
    id: P521_ID,
    size: 66,
    order:
      0x01fffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffa51868783bf2f966b7fcc0148f709a5d03bb5c9b8899c47aebb6fb71e91386409n,
    signature: "1.2.840.10045.4.3.4",
    point: (scalar) => p521Library.get().getPublicKey(scalar, false),
    sign: (scalar, message) => p521Library.get().sign(message, scalar, { format: "der", lowS: false }),
  },
];

function nodePoint(scalar: Uint8Array, curve: Curve): Uint8Array {
  const info = nodeCrypto().createPublicKey(pkcs8Pem(curve, scalar)).export({ type: "spki", format: "der" });
  return info.subarray(-2 * curve.size - 1);
}

function nodeSigner(hash: string): Curve["sign"] {
  return (scalar, message, curve) => {
    const { createPrivateKey, sign } = nodeCrypto();
    return sign(hash, message, createPrivateKey(pkcs8Pem(curve, scalar)));
  };
}

/** Encodes a key in PKCS #8, because Deno's node:crypto cannot read SEC 1 and writes SEC 1 without the curve's name. */
function pkcs8Pem(curve: Curve, scalar: Uint8Array): string {
  const key = sequence(integer(1), octets(scalar));
  return encodePem("PRIVATE KEY", sequence(integer(0), sequence(oid(EC), oid(curve.id)), octets(key)));
}

/** Reads a key from SEC 1. `curve` is the curve named by the PKCS #8 around the key, if any. */
export function readSec1(der: Uint8Array, curve?: string): PrivateKey {
  const reader = new DerReader(der).sequence();
  if (reader.integer() !== 1n) throw new Error("the version of the EC key is unknown");
  const scalar = reader.take(TAG.octets).content;
  const named = reader.optional(0xa0);
  return ecKey(curveOf(curve ?? (named === undefined ? "" : new DerReader(named.content).oid())), scalar);
}

function curveOf(id: string): Curve {
  const curve = CURVES.find((each) => each.id === id);
  if (curve === undefined) throw new Error("x509: unknown elliptic curve");
  return curve;
}

/** Creates a key from the scalar's bytes. Accepts too many or too few leading zeros, which some programs write. */
function ecKey(curve: Curve, bytes: Uint8Array): PrivateKey {
  const value = numberOf(bytes);
  if (value === 0n || value >= curve.order) throw new Error("the number of the EC key is not within its curve");
  const scalar = unsignedBytes(value, curve.size);
  const point = curve.point(scalar, curve);
  const sec1 = sequence(integer(1), octets(scalar), explicit(0, oid(curve.id)), explicit(1, bits(point)));
  return {
    pem: () => encodePem("EC PRIVATE KEY", sec1),
    publicKey: () => sequence(sequence(oid(EC), oid(curve.id)), bits(point)),
    algorithm: sequence(oid(curve.signature)),
    sign: (message) => curve.sign(scalar, message, curve),
  };
}

const NAMED = { P256, P384 } as const;

/** Curves by the names of Go's crypto/elliptic. */
export type CurveName = keyof typeof NAMED;

/** Generates a key, on P-256 by default. */
export function generateEcKey(name: CurveName = "P256"): PrivateKey {
  const curve = curveOf(NAMED[name]);
  for (;;) {
    const scalar = crypto.getRandomValues(new Uint8Array(curve.size));
    const value = numberOf(scalar);
    if (value > 0n && value < curve.order) return ecKey(curve, scalar);
  }
}
