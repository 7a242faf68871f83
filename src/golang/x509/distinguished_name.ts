/** Formats the distinguished names of certificates. */
import { DerReader } from "./der/der_reader.ts";

/** Attributes by object identifier (RFC 4519). */
const ATTRIBUTES: Readonly<Record<string, string>> = {
  "2.5.4.3": "CN",
  "2.5.4.6": "C",
  "2.5.4.7": "L",
  "2.5.4.8": "ST",
  "2.5.4.10": "O",
  "2.5.4.11": "OU",
  "0.9.2342.19200300.100.1.25": "DC",
};

const decoder = new TextDecoder();

/** A DER name as text, in the order of the DER: `O=cluster.local, CN=root`. Throws if the bytes are not a name. */
export function distinguishedName(der: Uint8Array): string {
  const parts: string[] = [];
  const sets = new DerReader(der).sequence();
  while (!sets.atEnd) {
    const attributes = new DerReader(sets.any().content);
    while (!attributes.atEnd) {
      const attribute = attributes.sequence();
      const type = attribute.oid();
      parts.push(`${ATTRIBUTES[type] ?? type}=${decoder.decode(attribute.any().content)}`);
    }
  }
  return parts.join(", ");
}
