/** Protobuf messages of `istio.v1.auth.IstioCertificateService`, with only the fields in use. */
import { BinaryWriter, putInteger, putMessage, putString, readMessage, writeStruct } from "../../base/protobuf.ts";

export interface CertificateRequest {
  /** The certificate signing request, in PEM. */
  readonly csr: string;
  readonly validitySeconds: number;
  /** The Kubernetes signer; `""` if unset. */
  readonly certSigner: string;
}

const REQUEST = { csr: 1, validity: 3, metadata: 4 } as const;
const RESPONSE = { chain: 1 } as const;

/** Encodes an `IstioCertificateRequest`. */
export function encodeRequest({ csr, validitySeconds, certSigner }: CertificateRequest): Uint8Array {
  const writer = new BinaryWriter();
  putString(writer, REQUEST.csr, csr);
  putInteger(writer, REQUEST.validity, validitySeconds);
  if (certSigner !== "") {
    putMessage(writer, REQUEST.metadata, (metadata) => writeStruct(metadata, { CertSigner: certSigner }));
  }
  return writer.finish();
}

/** Decodes a response into PEM certificates, leaf first, root last. Throws on invalid bytes. */
export function decodeResponse(bytes: Uint8Array): string[] {
  const chain: string[] = [];
  readMessage(bytes, { [RESPONSE.chain]: (reader) => chain.push(reader.string()) });
  return chain;
}
