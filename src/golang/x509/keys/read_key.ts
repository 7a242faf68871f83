import { TAG } from "../der/der.ts";
import { DerReader } from "../der/der_reader.ts";
import { decodePem } from "../der/pem.ts";
import { EC, readSec1 } from "./ec_key.ts";
import { ED25519, ed25519Key } from "./ed25519_key.ts";
import type { PrivateKey } from "./private_key.ts";
import { readPkcs1, RSA } from "./rsa_key.ts";

const READERS: ReadonlyMap<string, (der: Uint8Array) => PrivateKey> = new Map([
  ["PRIVATE KEY", readPkcs8],
  ["RSA PRIVATE KEY", readPkcs1],
  ["EC PRIVATE KEY", (der: Uint8Array) => readSec1(der)],
]);

/**
 * Reads the key in the first PEM block of a text (one character per byte). Throws if the text has no block or the block
 * has no key of a known type.
 */
export function readPrivateKey(pem: string): PrivateKey {
  const block = decodePem(pem);
  if (block === undefined) throw new Error("no PEM data in input");
  const read = READERS.get(block.type);
  if (read === undefined) {
    throw new Error(`"${block.type}" in PEM is not supported: use "${[...READERS.keys()].join('", "')}"`);
  }
  return within(`malformed "${block.type}" in PEM`, () => read(block.bytes));
}

/** Runs a function and puts a prefix before the text of an error that it throws. */
export function within<T>(problem: string, run: () => T): T {
  try {
    return run();
  } catch (error) {
    throw error instanceof Error ? new Error(`${problem}: ${error.message}`) : error;
  }
}

function readPkcs8(der: Uint8Array): PrivateKey {
  const reader = new DerReader(der).sequence();
  reader.integer();
  const algorithm = reader.sequence();
  const id = algorithm.oid();
  const key = reader.take(TAG.octets).content;
  if (id === RSA) return readPkcs1(key);
  if (id === EC) return readSec1(key, algorithm.atEnd ? undefined : algorithm.oid());
  if (id === ED25519 && algorithm.atEnd) return ed25519Key(new DerReader(key).take(TAG.octets).content);
  throw new Error(`the algorithm ${id} is not supported`);
}
