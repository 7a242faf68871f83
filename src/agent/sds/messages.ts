/** The messages of SDS that are needed, by the field numbers of Envoy's API v3. */
import { BinaryReader, BinaryWriter } from "@bufbuild/protobuf/wire";
import { MeshError, messageOf } from "../../core/errors.ts";
import type { Secret } from "./secret.ts";

/** What a proxy asks for, or says of the last answer (`envoy.service.discovery.v3.DiscoveryRequest`). */
export interface DiscoveryRequest {
  readonly versionInfo: string;
  readonly nodeId: string;
  readonly resourceNames: readonly string[];
  readonly typeUrl: string;
  readonly responseNonce: string;
  /** Why the last answer is refused (`error_detail.message`); `undefined` if it is not. */
  readonly refusal: string | undefined;
}

/** What a proxy is given (`envoy.service.discovery.v3.DiscoveryResponse`). */
export interface DiscoveryResponse {
  readonly version: string;
  readonly nonce: string;
  readonly secrets: ReadonlyMap<string, Secret>;
}

/** The type of all resources of SDS. */
export const SECRET_TYPE = "type.googleapis.com/envoy.extensions.transport_sockets.tls.v3.Secret";

const LENGTH_DELIMITED = 2;

/** The fields of a message that are texts, bytes or messages, in their order; a MeshError if it is none. */
function fieldsOf(message: Uint8Array): (readonly [number, Uint8Array])[] {
  try {
    const reader = new BinaryReader(message);
    const fields: (readonly [number, Uint8Array])[] = [];
    while (reader.pos < reader.len) {
      const [number, type] = reader.tag();
      if (Number(type) === LENGTH_DELIMITED) fields.push([number, reader.bytes()]);
      else reader.skip(type, number);
    }
    return fields;
  } catch (error) {
    throw new MeshError(`A message of the proxy cannot be read: ${messageOf(error)}`, { cause: error });
  }
}

const decoder = new TextDecoder();

function lastText(fields: readonly (readonly [number, Uint8Array])[], number: number): string {
  return decoder.decode(fields.findLast(([each]) => each === number)?.[1]);
}

/** Reads a request. Errors: a MeshError if it is none. */
export function readDiscoveryRequest(message: Uint8Array): DiscoveryRequest {
  const fields = fieldsOf(message);
  const [node, status] = [2, 6].map((number) => fields.findLast(([each]) => each === number)?.[1]);
  return {
    versionInfo: lastText(fields, 1),
    nodeId: node === undefined ? "" : lastText(fieldsOf(node), 1),
    resourceNames: fields.filter(([number]) => number === 3).map(([, bytes]) => decoder.decode(bytes)),
    typeUrl: lastText(fields, 4),
    responseNonce: lastText(fields, 5),
    refusal: status === undefined ? undefined : lastText(fieldsOf(status), 2),
  };
}

/** The bytes of an answer. */
export function discoveryResponse({ version, nonce, secrets }: DiscoveryResponse): Uint8Array {
  const writer = new BinaryWriter();
  text(writer, 1, version);
  for (const [name, secret] of secrets) {
    nested(writer, 2, (any) => {
      text(any, 1, SECRET_TYPE);
      nested(any, 2, (value) => writeSecret(value, name, secret));
    });
  }
  text(writer, 4, SECRET_TYPE);
  text(writer, 5, nonce);
  return writer.finish();
}

/** `envoy.extensions.transport_sockets.tls.v3.Secret`: a TlsCertificate or a CertificateValidationContext. */
function writeSecret(writer: BinaryWriter, name: string, secret: Secret): void {
  text(writer, 1, name);
  if (secret.kind === "authorities") return nested(writer, 4, (context) => inline(context, 1, secret.authorities));
  nested(writer, 2, (certificate) => {
    inline(certificate, 1, secret.certificate);
    inline(certificate, 2, secret.key);
  });
}

/** A `DataSource` with `inline_bytes`. */
function inline(writer: BinaryWriter, number: number, content: string): void {
  nested(writer, number, (source) => text(source, 2, content));
}

function text(writer: BinaryWriter, number: number, value: string): void {
  if (value !== "") writer.tag(number, LENGTH_DELIMITED).string(value);
}

function nested(writer: BinaryWriter, number: number, write: (inner: BinaryWriter) => void): void {
  writer.tag(number, LENGTH_DELIMITED).fork();
  write(writer);
  writer.join();
}
