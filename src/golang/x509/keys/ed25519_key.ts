/** Private keys of Ed25519 (RFC 8410). */
import { nodeCrypto } from "../../../base/node_crypto.ts";
import { integer, octets, oid, sequence } from "../der/der.ts";
import { encodePem } from "../der/pem.ts";
import type { PrivateKey } from "./private_key.ts";

/** The key with this seed of 32 bytes. */
export function ed25519Key(seed: Uint8Array): PrivateKey {
  const algorithm = sequence(oid("1.3.101.112"));
  const pem = encodePem("PRIVATE KEY", sequence(integer(0), algorithm, octets(octets(seed))));
  return {
    pem: () => pem,
    publicKey: () => nodeCrypto().createPublicKey(pem).export({ type: "spki", format: "der" }),
    signer: { algorithm, sign: (message) => nodeCrypto().sign(null, message, nodeCrypto().createPrivateKey(pem)) },
  };
}
