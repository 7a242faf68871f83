/** Reads a private key from PEM as sprig does, with the error texts of sprig and Go. */
import { integer, octets, oid, sequence, TAG } from "../der/der.ts";
import { DerReader } from "../der/der_reader.ts";
import { readSec1, sec1Shape } from "./ec_key.ts";
import { ed25519Key } from "./ed25519_key.ts";
import { decodePem, encodePem } from "../der/pem.ts";
import { NO_DSA, type PrivateKey } from "./private_key.ts";
import { pkcs1Shape, readPkcs1 } from "./rsa_key.ts";

const SUFFIX = " PRIVATE KEY";

interface Form {
  readonly problem: string;
  readonly read: (der: Uint8Array) => PrivateKey;
}

const FORMS: ReadonlyMap<string, Form> = new Map([
  ["PRIVATE KEY", { problem: "decoding PEM as PKCS#8", read: readPkcs8OrHint }],
  ["RSA PRIVATE KEY", { problem: "parsing RSA private key from PEM", read: readPkcs1OrHint }],
  ["EC PRIVATE KEY", { problem: "parsing EC private key from PEM", read: (der) => readSec1OrHint(der) }],
]);

/**
 * Reads the key in the first PEM block of a text (one character per byte). Throws if the text has no block or the block
 * has no key of a known type.
 */
export function readPrivateKey(pem: string): PrivateKey {
  const block = decodePem(pem);
  if (block === undefined) throw new Error("no PEM data in input");
  const form = FORMS.get(block.type);
  if (form !== undefined) return within(form.problem, () => form.read(block.bytes));
  if (block.type === "DSA PRIVATE KEY") throw new Error(NO_DSA);
  throw new Error(
    block.type.endsWith(SUFFIX)
      ? `invalid private key type ${block.type}`
      : `no private key data in PEM block of type ${block.type}`,
  );
}

/** Runs a function and puts a prefix before the text of an error that it throws. */
export function within<T>(problem: string, run: () => T): T {
  try {
    return run();
  } catch (error) {
    throw error instanceof Error ? new Error(`${problem}: ${error.message}`) : error;
  }
}

function pkcs8Shape(der: Uint8Array) {
  const reader = new DerReader(der).sequence("pkcs8");
  const version = reader.integer("int");
  const algorithm = reader.sequence("AlgorithmIdentifier");
  const id = algorithm.oid();
  const parameters = algorithm.atEnd ? undefined : algorithm.any();
  return { version, id, parameters, key: reader.take(TAG.octets).content };
}

const SHAPES = { ParsePKCS1PrivateKey: pkcs1Shape, ParseECPrivateKey: sec1Shape, ParsePKCS8PrivateKey: pkcs8Shape };

/** Checks the format of a key. If the key has a different known format, the error names that format, as in Go. */
function checkShape(shape: (der: Uint8Array) => unknown, der: Uint8Array, others: readonly (keyof typeof SHAPES)[]) {
  try {
    shape(der);
  } catch (error) {
    const other = others.find((name) => fits(SHAPES[name], der));
    if (other === undefined) throw error;
    throw new Error(`x509: failed to parse private key (use ${other} instead for this key format)`);
  }
}

function fits(shape: (der: Uint8Array) => unknown, der: Uint8Array): boolean {
  try {
    shape(der);
    return true;
  } catch {
    // The key has another format.
    return false;
  }
}

function readPkcs1OrHint(der: Uint8Array): PrivateKey {
  checkShape(pkcs1Shape, der, ["ParseECPrivateKey", "ParsePKCS8PrivateKey"]);
  return readPkcs1(der);
}

function readSec1OrHint(der: Uint8Array, curve?: string): PrivateKey {
  checkShape(
    (bytes) => within("x509: failed to parse EC private key", () => sec1Shape(bytes)),
    der,
    ["ParsePKCS8PrivateKey", "ParsePKCS1PrivateKey"],
  );
  return readSec1(der, curve);
}

function readPkcs8OrHint(der: Uint8Array): PrivateKey {
  checkShape(pkcs8Shape, der, ["ParseECPrivateKey", "ParsePKCS1PrivateKey"]);
  const { id, parameters, key } = pkcs8Shape(der);
  const read = ALGORITHMS.get(id);
  if (read !== undefined) return read(key, parameters?.whole);
  throw new Error(`x509: PKCS#8 wrapping contained private key with unknown algorithm: ${id}`);
}

type ReadKey = (key: Uint8Array, parameters: Uint8Array | undefined) => PrivateKey;

const ALGORITHMS: ReadonlyMap<string, ReadKey> = new Map<string, ReadKey>([
  ["1.2.840.113549.1.1.1", (key) => within(embedded("RSA"), () => readPkcs1OrHint(key))],
  ["1.2.840.10045.2.1", (key, curve) => within(embedded("EC"), () => readSec1OrHint(key, curveName(curve)))],
  ["1.3.101.112", (key, parameters) => ed25519Key(seedOf("Ed25519", key, parameters))],
  ["1.3.101.110", (key, parameters) => x25519Key(seedOf("X25519", key, parameters))],
]);

/** An X25519 key. Go reads such a key, but Go's x509 can neither sign with the key nor certify it. */
function x25519Key(seed: Uint8Array): PrivateKey {
  const der = sequence(integer(0), sequence(oid("1.3.101.110")), octets(octets(seed)));
  return {
    pem: () => encodePem("PRIVATE KEY", der),
    publicKey: () => {
      throw new Error("x509: unsupported public key type: *ecdh.PublicKey");
    },
    signer: undefined,
  };
}

function embedded(kind: string): string {
  return `x509: failed to parse ${kind} private key embedded in PKCS#8`;
}

function curveName(parameters: Uint8Array | undefined): string | undefined {
  return parameters?.[0] === TAG.oid ? new DerReader(parameters).oid() : undefined;
}

function seedOf(kind: string, key: Uint8Array, parameters: Uint8Array | undefined): Uint8Array {
  if (parameters !== undefined) throw new Error(`x509: invalid ${kind} private key parameters`);
  const seed = within(`x509: invalid ${kind} private key`, () => new DerReader(key).take(TAG.octets).content);
  if (seed.length === 32) return seed;
  throw new Error(
    kind === "Ed25519"
      ? `x509: invalid Ed25519 private key length: ${seed.length}`
      : "crypto/ecdh: invalid private key size",
  );
}
