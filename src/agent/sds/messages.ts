/** Protobuf messages of SDS, with field numbers of Envoy's API v3. Only the messages in use are listed. */
import { MeshError, messageOf } from "../../base/errors.ts";
import { BinaryWriter, putMessage, putString, readMessage } from "../../base/protobuf.ts";
import type { Secret } from "./secret.ts";

/** A request, an ACK or a NACK (`envoy.service.discovery.v3.DiscoveryRequest`). */
export interface DiscoveryRequest {
  readonly resourceNames: readonly string[];
  readonly typeUrl: string;
  readonly responseNonce: string;
  /** Reason for rejecting the last response (`error_detail.message`); `undefined` for an ACK. */
  readonly refusal: string | undefined;
}

export interface DiscoveryResponse {
  readonly version: string;
  readonly nonce: string;
  readonly secrets: ReadonlyMap<string, Secret>;
}

export const SECRET_TYPE = "type.googleapis.com/envoy.extensions.transport_sockets.tls.v3.Secret";

/** Decodes a request. Throws a MeshError on invalid bytes. */
export function readDiscoveryRequest(message: Uint8Array): DiscoveryRequest {
  const read = { resourceNames: Array<string>(), typeUrl: "", responseNonce: "" };
  let refusal: string | undefined;
  try {
    readMessage(message, {
      3: (reader) => read.resourceNames.push(reader.string()),
      4: (reader) => read.typeUrl = reader.string(),
      5: (reader) => read.responseNonce = reader.string(),
      6(reader) {
        refusal = "";
        readMessage(reader.bytes(), { 2: (status) => refusal = status.string() });
      },
    });
    return { ...read, refusal };
  } catch (error) {
    throw new MeshError(`Invalid SDS request: ${messageOf(error)}`, { cause: error });
  }
}

/** Encodes a `DiscoveryResponse`. */
export function discoveryResponse({ version, nonce, secrets }: DiscoveryResponse): Uint8Array {
  const writer = new BinaryWriter();
  putString(writer, 1, version);
  for (const [name, secret] of secrets) {
    putMessage(writer, 2, (any) => {
      putString(any, 1, SECRET_TYPE);
      putMessage(any, 2, (value) => writeSecret(value, name, secret));
    });
  }
  putString(writer, 4, SECRET_TYPE);
  putString(writer, 5, nonce);
  return writer.finish();
}

/** Writes a `envoy.extensions.transport_sockets.tls.v3.Secret`: a TlsCertificate or a CertificateValidationContext. */
function writeSecret(writer: BinaryWriter, name: string, secret: Secret): void {
  putString(writer, 1, name);
  if (secret.kind === "authorities") return putMessage(writer, 4, (context) => inline(context, 1, secret.authorities));
  putMessage(writer, 2, (certificate) => {
    inline(certificate, 1, secret.certificate);
    inline(certificate, 2, secret.key);
  });
}

/** Writes a `DataSource` with `inline_bytes`. */
function inline(writer: BinaryWriter, number: number, content: string): void {
  putMessage(writer, number, (source) => putString(source, 2, content));
}
