/** The keys of the workload. */
import { generateEcKey, makeRsaKey, pkcs8Pem, type PrivateKey } from "../../core/x509/mod.ts";
import type { KeyChoice } from "./options.ts";

/** A fresh key; it is in memory alone. */
export async function makeKey(choice: KeyChoice): Promise<PrivateKey> {
  return choice.type === "rsa" ? await makeRsaKey(choice.bits) : generateEcKey(choice.curve);
}

/** The key as text, in its own form or that of PKCS #8. */
export function keyPem(key: PrivateKey, isPkcs8: boolean): string {
  return isPkcs8 ? pkcs8Pem(key) : key.pem();
}
