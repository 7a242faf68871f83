/** Fuzzes files with certificates and keys. */
import { decodePems, readCertificate, readPrivateKey } from "../../../src/golang/x509/mod.ts";
import { CERTIFICATE, KEY } from "../../support/tls/self_signed.ts";
import { accepts, type FuzzReader, isPlainError, textOf } from "../reader.ts";

export const CERTIFICATES: FuzzReader = {
  name: "certificates",
  seeds: [CERTIFICATE, KEY, CERTIFICATE + KEY],
  words: [
    "-----BEGIN CERTIFICATE-----\n",
    "-----END CERTIFICATE-----\n",
    "-----BEGIN PRIVATE KEY-----\n",
    "-----BEGIN EC PRIVATE KEY-----\n",
    "-----BEGIN RSA PRIVATE KEY-----\n",
    "\r\n",
    "MII",
    "====",
    "A: b\n",
    "\n",
  ],
  refuses: isPlainError,
  open: () => (input) => {
    const text = textOf(input);
    const blocks = decodePems(text);
    for (const { bytes } of blocks) {
      accepts(() => readCertificate(bytes));
      accepts(() => readCertificate(bytes));
    }
    accepts(() => readPrivateKey(text));
    return blocks.length > 0;
  },
};
