import { nodeCrypto } from "../../../base/node_crypto.ts";
import { generateEcKey } from "./ec_key.ts";
import { ed25519Key } from "./ed25519_key.ts";
import type { PrivateKey } from "./private_key.ts";
import { readPkcs1 } from "./rsa_key.ts";

/** Generates an RSA key and blocks until it is done. */
export function generateRsaKey(modulusLength: number): PrivateKey {
  const { privateKey } = nodeCrypto().generateKeyPairSync("rsa", { modulusLength });
  return readPkcs1(privateKey.export({ type: "pkcs1", format: "der" }));
}

/** Generates an RSA key on another thread, because that takes a tenth of a second or longer. */
export async function makeRsaKey(modulusLength: number): Promise<PrivateKey> {
  const { generateKeyPair } = nodeCrypto();
  const der = await new Promise<Uint8Array>((resolve, reject) => {
    generateKeyPair("rsa", { modulusLength }, (error, _publicKey, privateKey) => {
      return error === null ? resolve(privateKey.export({ type: "pkcs1", format: "der" })) : reject(error);
    });
  });
  return readPkcs1(der);
}

const GENERATORS: ReadonlyMap<string, () => PrivateKey> = new Map([
  ["", () => generateRsaKey(4096)],
  ["rsa", () => generateRsaKey(4096)],
  ["ecdsa", () => generateEcKey()],
  ["ed25519", () => ed25519Key(crypto.getRandomValues(new Uint8Array(32)))],
]);

/**
 * Generates a key in PEM: RSA with 4096 bits (the default), ECDSA on P-256, or Ed25519. For an unknown kind the result
 * is sprig's error text. Throws for the kind `dsa`.
 */
export function genPrivateKey(kind: string): string {
  if (kind === "dsa") throw new Error('DSA keys are not supported: use "ecdsa", "ed25519" or "rsa"');
  return GENERATORS.get(kind)?.().pem() ?? `Unknown type ${kind}`;
}
