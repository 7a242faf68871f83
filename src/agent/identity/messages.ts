/** The messages of `istio.v1.auth.IstioCertificateService` in protobuf: those fields that are used. */
import { BinaryReader, BinaryWriter, WireType } from "@bufbuild/protobuf/wire";

/** What is asked for. */
export interface CertificateRequest {
  /** PEM. */
  readonly csr: string;
  readonly validitySeconds: number;
  /** The signer, `""` for none. */
  readonly certSigner: string;
}

const REQUEST = { csr: 1, validity: 3, metadata: 4 } as const;
/** google.protobuf.Struct: a map of names and values, of which a text is field 3. */
const STRUCT = { fields: 1, key: 1, value: 2, text: 3 } as const;
const RESPONSE = { chain: 1 } as const;

/** `IstioCertificateRequest`. */
export function encodeRequest({ csr, validitySeconds, certSigner }: CertificateRequest): Uint8Array {
  const writer = new BinaryWriter();
  writer.tag(REQUEST.csr, WireType.LengthDelimited).string(csr);
  if (validitySeconds !== 0) writer.tag(REQUEST.validity, WireType.Varint).int64(validitySeconds);
  if (certSigner !== "") {
    writer.tag(REQUEST.metadata, WireType.LengthDelimited).bytes(structOf("CertSigner", certSigner));
  }
  return writer.finish();
}

function structOf(name: string, text: string): Uint8Array {
  const value = new BinaryWriter().tag(STRUCT.text, WireType.LengthDelimited).string(text).finish();
  const entry = new BinaryWriter()
    .tag(STRUCT.key, WireType.LengthDelimited).string(name)
    .tag(STRUCT.value, WireType.LengthDelimited).bytes(value);
  return new BinaryWriter().tag(STRUCT.fields, WireType.LengthDelimited).bytes(entry.finish()).finish();
}

/** The certificates of an `IstioCertificateResponse`, PEM: leaf first, root last. Errors: it is none. */
export function decodeResponse(bytes: Uint8Array): string[] {
  const reader = new BinaryReader(bytes);
  const chain: string[] = [];
  while (reader.pos < reader.len) {
    const [field, type] = reader.tag();
    if (field === RESPONSE.chain && type === WireType.LengthDelimited) chain.push(reader.string());
    else reader.skip(type, field);
  }
  return chain;
}
