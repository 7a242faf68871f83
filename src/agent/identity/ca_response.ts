/** Validates the CA's response. */
import { sameBytes } from "../../base/bytes.ts";
import { messageOf } from "../../base/errors.ts";
import { type CertificateInfo, decodePems, readCertificate } from "../../golang/x509/mod.ts";
import { spanText, StageError, stamp } from "./failure.ts";

export interface Chain {
  /** All certificates in PEM, leaf first. */
  readonly certificate: string;
  readonly roots: string;
  readonly leaf: CertificateInfo;
}

/** Maximum number of certificates, because parsing a long chain takes time. */
const MAX_CERTIFICATES = 100;
const MINUTE = 60_000;

/**
 * Validates a response of PEM entries: leaf first, roots last. Throws a `StageError` for fewer than two entries, an
 * invalid entry, a leaf for another key, or an expired leaf.
 */
export function checkAnswer(entries: readonly string[], publicKey: Uint8Array, now: number): Chain {
  if (entries.length < 2) {
    const what = entries.length === 0 ? "no certificate" : "only one certificate";
    throw wrong(`it contains ${what}, but must contain the leaf and at least its root`);
  }
  const infos = entries.map(infoOf);
  if (infos.flat().length > MAX_CERTIFICATES) {
    throw wrong(`it contains more than ${MAX_CERTIFICATES} certificates`);
  }
  const leaf = infos[0]?.[0];
  if (leaf === undefined || !sameBytes(leaf.publicKey, publicKey)) {
    throw wrong("the first certificate does not match the key of the request");
  }
  const [begin, end] = [leaf.notBefore.getTime(), leaf.notAfter.getTime()];
  if (end <= begin) throw wrong(`the certificate expires at ${stamp(end)}, before its validity begins`);
  if (end <= now) {
    const ago = spanText(Math.round((now - end) / MINUTE) * MINUTE);
    const text = `clock: The CA's new certificate expired about ${ago} ago, according to the clock of this machine`;
    throw new StageError(text, { hint: "set the clock of this machine or of the CA" });
  }
  const texts = entries.map((entry) => `${entry.trim()}\n`);
  return { certificate: texts.join(""), roots: texts.at(-1) ?? "", leaf };
}

/** Returns the certificates of an entry, at least one. */
function infoOf(entry: string, index: number): CertificateInfo[] {
  const blocks = decodePems(entry).filter(({ type }) => type === "CERTIFICATE");
  if (blocks.length === 0) throw wrong(`entry ${index + 1} is not a PEM certificate`);
  try {
    return blocks.map(({ bytes }) => readCertificate(bytes));
  } catch (error) {
    throw wrong(`entry ${index + 1} cannot be read: ${messageOf(error)}`);
  }
}

function wrong(what: string): StageError {
  return new StageError(`CA: The CA's answer is not usable: ${what}`);
}

/** Returns the SPIFFE ID of a certificate; `undefined` without a SPIFFE ID. */
export function spiffeIdOf({ uris }: CertificateInfo): string | undefined {
  return uris.find((uri) => uri.startsWith("spiffe://"));
}
