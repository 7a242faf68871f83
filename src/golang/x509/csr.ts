/** Certificate signing requests (PKCS #10, RFC 2986), as Go's x509.CreateCertificateRequest makes them. */
import { extension, uriName } from "./certificate.ts";
import { bits, element, explicit, integer, oid, sequence, TAG } from "./der/der.ts";
import type { PrivateKey } from "./keys/private_key.ts";

const EXTENSION_REQUEST = "1.2.840.113549.1.9.14";
const ALTERNATIVE_NAMES = "2.5.29.17";

/**
 * A request in DER for a certificate with one alternative name, a URI, and without a subject (SPIFFE X.509-SVID, 2). The
 * name is critical because the subject is empty (RFC 5280, 4.2.1.6). Errors: the key cannot sign; the URI has characters
 * beyond ASCII.
 */
export function createRequest(uri: string, key: PrivateKey): Uint8Array {
  const { signer } = key;
  if (signer === undefined) throw new Error("x509: certificate private key does not implement crypto.Signer");
  const names = extension(ALTERNATIVE_NAMES, true, sequence(uriName(uri)));
  const attribute = sequence(oid(EXTENSION_REQUEST), element(TAG.set, sequence(names)));
  const signed = sequence(integer(0), sequence(), key.publicKey(), explicit(0, attribute));
  return sequence(signed, signer.algorithm, bits(signer.sign(signed)));
}
