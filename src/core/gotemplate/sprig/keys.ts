/** sprig's private keys, and the certificate functions that this program does not have. */
import { declared, type FuncMap, type GoFunc } from "../value.ts";
import { STRING, text } from "./args.ts";
import { nodeCrypto } from "./node_crypto.ts";

/** The functions by name. */
export function keyFunctions(): FuncMap {
  return {
    genPrivateKey: declared([STRING], (kind) => privateKey(text(kind))),
    ...Object.fromEntries(CERTIFICATE_FUNCTIONS.map((name) => [name, refusing(name)])),
  };
}

const CERTIFICATE_FUNCTIONS = [
  "buildCustomCert",
  "genCA",
  "genCAWithKey",
  "genSelfSignedCert",
  "genSelfSignedCertWithKey",
  "genSignedCert",
  "genSignedCertWithKey",
];

/** A template that mentions the function parses; a pod whose rendering needs a fresh certificate is refused. */
function refusing(name: string): GoFunc {
  return () => {
    throw new Error(`${name} is not available: certificates are not made while a template renders; use a Secret`);
  };
}

/** A key in PEM: RSA of 4096 bits unless told, ECDSA on P-256, or Ed25519. */
function privateKey(kind: string): string {
  const { generateKeyPairSync } = nodeCrypto();
  switch (kind) {
    case "":
    case "rsa":
      return pem(
        generateKeyPairSync("rsa", { modulusLength: 4096 }).privateKey.export({ type: "pkcs1", format: "pem" }),
      );
    case "ecdsa":
      return pem(generateKeyPairSync("ec", { namedCurve: "P-256" }).privateKey.export({ type: "sec1", format: "pem" }));
    case "ed25519":
      return pem(generateKeyPairSync("ed25519").privateKey.export({ type: "pkcs8", format: "pem" }));
    case "dsa":
      throw new Error('keys of type "dsa" are not available: they are obsolete; use "ecdsa" or "ed25519"');
    default:
      return `Unknown type ${kind}`;
  }
}

/** PEM as Go writes it: with a line end at the end. */
function pem(exported: string | Uint8Array): string {
  const encoded = String(exported);
  return encoded.endsWith("\n") ? encoded : encoded + "\n";
}
