import { nodeCrypto } from "../../../base/node_crypto.ts";
import { integer, octets, oid, sequence } from "../der/der.ts";
import { encodePem } from "../der/pem.ts";
import type { PrivateKey } from "./private_key.ts";

/** The object identifier of the algorithm. */
export const ED25519 = "1.3.101.112";

/** The Ed25519 key (RFC 8410) with this seed of 32 bytes. */
export function ed25519Key(seed: Uint8Array): PrivateKey {
  if (seed.length !== 32) throw new Error("an Ed25519 key has 32 bytes");
  const algorithm = sequence(oid(ED25519));
  const pem = encodePem("PRIVATE KEY", sequence(integer(0), algorithm, octets(octets(seed))));
  return {
    pem: () => pem,
    publicKey: () => nodeCrypto().createPublicKey(pem).export({ type: "spki", format: "der" }),
    algorithm,
    sign: (message) => nodeCrypto().sign(null, message, nodeCrypto().createPrivateKey(pem)),
  };
}
