/** A `DataSource` with certificates (envoy/config/core/v3/base.proto). */
import { decodePems } from "../../golang/x509/mod.ts";
import { textAt, type ValueMap } from "../../base/value.ts";

/** The certificates in a source, in DER; none if they are in a file. */
export function certificatesOf(source: ValueMap): Uint8Array[] {
  const text = textAt(source, "inline_string");
  const pem = text === "" ? decoded(textAt(source, "inline_bytes")) : text;
  return decodePems(pem).map(({ bytes }) => bytes);
}

function decoded(base64: string): string {
  try {
    return atob(base64);
  } catch {
    // The text is not base64.
    return "";
  }
}
