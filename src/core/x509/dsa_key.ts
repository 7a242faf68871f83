/** DSA private keys in the form of OpenSSL, which sprig writes. */
import { nodeCrypto } from "../node_crypto.ts";
import { integer, sequence, TAG } from "./der.ts";
import { DerReader } from "./der_reader.ts";
import { power } from "./modular.ts";
import { encodePem } from "./pem.ts";
import { type PrivateKey, uselessKey } from "./private_key.ts";

/** Modulus, divisor, generator, public and private number. */
type Numbers = readonly [p: bigint, q: bigint, g: bigint, y: bigint, x: bigint];

/**
 * A fresh key with a modulus of 2048 bits and a divisor of 256. The search for its primes takes a second on average,
 * several at times, as it does in Go: they are fresh for each key, and some 700 candidates are tried until one is prime.
 */
export function generateDsaKey(): PrivateKey {
  const { privateKey } = nodeCrypto().generateKeyPairSync("dsa", { modulusLength: 2048, divisorLength: 256 });
  const reader = new DerReader(privateKey.export({ type: "pkcs8", format: "der" })).sequence();
  reader.integer();
  const algorithm = reader.sequence();
  algorithm.oid();
  const parameters = algorithm.sequence();
  const [p, q, g] = [parameters.integer(), parameters.integer(), parameters.integer()];
  const x = new DerReader(reader.take(TAG.octets).content).integer();
  return dsaKey([p, q, g, power(g, x, p), x]);
}

/** A key as sprig wrote it. Errors: those of asn1.Unmarshal. */
export function readDsa(der: Uint8Array): PrivateKey {
  const reader = new DerReader(der).sequence("DSAKeyFormat");
  reader.integer("int");
  const [p, q, g] = [reader.integer(), reader.integer(), reader.integer()];
  return dsaKey([p, q, g, reader.integer(), reader.integer()]);
}

/** Go's x509 neither signs with DSA nor certifies such a key. */
function dsaKey(numbers: Numbers): PrivateKey {
  const pem = () => encodePem("DSA PRIVATE KEY", sequence(...[0n, ...numbers].map(integer)));
  return uselessKey("*dsa.PublicKey", pem);
}
