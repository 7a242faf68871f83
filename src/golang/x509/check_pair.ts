/** Checks whether a certificate and a private key from files belong together. */
import { sameBytes } from "../../base/bytes.ts";
import { MeshError, messageOf } from "../../base/errors.ts";
import { decodePems, encodePem } from "./der/pem.ts";
import { loadP521For } from "./keys/p521.ts";
import { readPrivateKey } from "./keys/read_key.ts";
import { type CertificateInfo, readCertificate } from "./read_certificate.ts";

/** A certificate with its chain, and its private key, in PEM. */
export interface KeyPair {
  readonly certificate: string;
  readonly key: string;
}

/** Names of the certificate and of the key in messages, usually file paths. */
export interface PairNames {
  readonly certificate: string;
  readonly key: string;
}

/** Reads the first certificate of a text. Throws a MeshError with the file if the text has no certificate. */
export function certificateInfo(pem: string, file: string): CertificateInfo {
  const first = decodePems(pem).find(({ type }) => type === "CERTIFICATE");
  if (first === undefined) {
    throw new MeshError("No certificate in PEM", {
      place: { file },
      hint: 'a certificate begins with "-----BEGIN CERTIFICATE"',
    });
  }
  try {
    return readCertificate(first.bytes);
  } catch (error) {
    throw new MeshError(`Cannot read the certificate: ${messageOf(error)}`, { place: { file }, cause: error });
  }
}

/**
 * Checks that a key belongs to a certificate. Some programs write the two files one after the other, and a new
 * certificate must not be used with the old key. Throws a MeshError that names the file and does not quote the key.
 */
export async function checkPair(pair: KeyPair, names: PairNames): Promise<void> {
  await loadP521For(pair.key);
  const { publicKey } = certificateInfo(pair.certificate, names.certificate);
  if (sameBytes(publicKeyOf(pair.key, names.key), publicKey)) return;
  throw new MeshError(`The key "${names.key}" does not belong to the certificate "${names.certificate}"`, {
    hint: "replace both files; an update of a mounted Secret replaces both in one step",
  });
}

function publicKeyOf(pem: string, file: string): Uint8Array {
  const found = decodePems(pem).find(({ type }) => type.endsWith("PRIVATE KEY"));
  if (found === undefined) {
    const hint = 'a private key begins with "-----BEGIN PRIVATE KEY" or similar, and must not be encrypted';
    throw new MeshError("No private key in PEM", { place: { file }, hint });
  }
  try {
    return readPrivateKey(encodePem(found.type, found.bytes)).publicKey();
  } catch (error) {
    throw new MeshError(`Cannot read the private key: ${messageOf(error)}`, { place: { file }, cause: error });
  }
}
