/** Reads the certificates of a `DataSource` (envoy/config/core/v3/base.proto). */
import { decodePems } from "../../golang/x509/mod.ts";
import { textAt, type ValueMap } from "../../base/value.ts";

/** Returns the certificates of a source, in DER; empty if the source names a file. */
export function certificatesOf(source: ValueMap): Uint8Array[] {
  const text = textAt(source, "inline_string");
  const pem = text === "" ? decoded(textAt(source, "inline_bytes")) : text;
  return decodePems(pem).map(({ bytes }) => bytes);
}

function decoded(base64: string): string {
  try {
    return atob(base64);
  } catch {
    // Treat invalid base64 as an empty source.
    return "";
  }
}
