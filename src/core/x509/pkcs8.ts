/** Private keys in the form of PKCS #8 (RFC 5208). */
import { integer, octets, sequence, TAG } from "./der/der.ts";
import { DerReader } from "./der/der_reader.ts";
import { decodePem, encodePem } from "./der/pem.ts";
import type { PrivateKey } from "./keys/private_key.ts";

/** A key of RSA or on a curve as `PRIVATE KEY`: what it is in its own form, after the algorithm of its public key. */
export function pkcs8Pem(key: PrivateKey): string {
  const own = decodePem(key.pem());
  if (own === undefined || own.type === "PRIVATE KEY") return key.pem();
  const algorithm = new DerReader(key.publicKey()).sequence().take(TAG.sequence).whole;
  return encodePem("PRIVATE KEY", sequence(integer(0), algorithm, octets(own.bytes)));
}
