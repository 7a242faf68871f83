/** Whether a certificate and a key that came from outside can be used together. */
import { MeshError, messageOf } from "../errors.ts";
import { sameBytes } from "./der/der_reader.ts";
import { decodePems, encodePem } from "./der/pem.ts";
import { type CertificateInfo, readCertificateInfo } from "./certificate_info.ts";
import { loadP521For } from "./keys/p521.ts";
import { readPrivateKey } from "./keys/read_key.ts";

/** A certificate, with those that it was signed by, and its private key: both PEM. */
export interface KeyPair {
  readonly certificate: string;
  readonly key: string;
}

/** What messages call the two texts: usually the paths they were read from. */
export interface PairNames {
  readonly certificate: string;
  readonly key: string;
}

/** What the first certificate of a text says. Errors: a MeshError with the file for a text that has none. */
export function certificateInfo(pem: string, file: string): CertificateInfo {
  const [first] = decodePems(pem).filter(({ type }) => type === "CERTIFICATE");
  if (first === undefined) {
    throw new MeshError("There is no certificate in PEM", {
      place: { file },
      hint: 'it begins with "-----BEGIN CERTIFICATE"',
    });
  }
  try {
    return readCertificateInfo(first.bytes);
  } catch (error) {
    throw new MeshError(`The certificate cannot be read: ${messageOf(error)}`, { place: { file }, cause: error });
  }
}

/**
 * Checks that a certificate can be served with a key. Files are written one after the other by some programs: a new
 * certificate must not be taken with the old key. Errors: a MeshError that names the file and says nothing of the key.
 */
export async function checkPair(pair: KeyPair, names: PairNames): Promise<void> {
  await loadP521For(pair.key);
  const { publicKey } = certificateInfo(pair.certificate, names.certificate);
  if (sameBytes(publicKeyOf(pair.key, names.key), publicKey)) return;
  throw new MeshError(`The key "${names.key}" is not that of the certificate "${names.certificate}"`, {
    hint: "replace both files, in one step as mounted Secrets do, or one after the other",
  });
}

function publicKeyOf(pem: string, file: string): Uint8Array {
  const found = decodePems(pem).find(({ type }) => type.endsWith("PRIVATE KEY"));
  if (found === undefined) {
    const hint = 'it begins with "-----BEGIN PRIVATE KEY" or the like and is not encrypted';
    throw new MeshError("There is no private key in PEM", { place: { file }, hint });
  }
  try {
    return readPrivateKey(encodePem(found.type, found.bytes)).publicKey();
  } catch (error) {
    throw new MeshError(`The private key cannot be read: ${messageOf(error)}`, { place: { file }, cause: error });
  }
}
