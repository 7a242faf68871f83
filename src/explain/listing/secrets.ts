import { mapAt, mapsAt, textAt, type ValueMap } from "../../base/value.ts";
import { nodeCrypto } from "../../base/node_crypto.ts";
import { readCertificate } from "../../golang/x509/mod.ts";
import { anyAt } from "../envoy/message.ts";
import { certificatesOf } from "../envoy/data_source.ts";
import type { Listing, ListingSource } from "./listing.ts";

const HEADS = ["RESOURCE NAME", "TYPE", "STATUS", "VALID CERT", "SERIAL NUMBER", "NOT AFTER", "NOT BEFORE"];

const STATES = { dynamic_warming_secrets: "WARMING", dynamic_active_secrets: "ACTIVE" } as const;

/** Lists the certificates that Envoy has or waits for, with a row for each. */
export function secrets({ config, filter, now }: ListingSource): Listing {
  const section = config.section("SecretsConfigDump");
  const isWanted = (entry: ValueMap) => filter.name === undefined || textAt(entry, "name") === filter.name;
  const lists = Object.entries(section).map(([key, held]) =>
    [key, Array.isArray(held) ? mapsAt(section, key).filter(isWanted) : held] as const
  );
  const rows = Object.entries(STATES).flatMap(([list, state]) =>
    mapsAt(section, list).filter(isWanted).flatMap((entry) => rowsOf(entry, state, now))
  );
  return { rows: [HEADS, ...rows], messages: Object.fromEntries(lists) };
}

/** Returns the rows of a secret: its first certificate, or for SPIFFE bundles the first of each trust domain. */
function rowsOf(entry: ValueMap, state: string, now: Date): readonly (readonly string[])[] {
  const secret = mapAt(entry, "secret");
  const validation = mapAt(secret, "validation_context");
  const bundles = mapsAt(anyAt(mapAt(validation, "custom_validator_config"), "typed_config").value, "trust_domains");
  const sources = bundles.length > 0
    ? bundles.map((bundle) => mapAt(bundle, "trust_bundle"))
    : [mapAt(mapAt(secret, "tls_certificate"), "certificate_chain"), mapAt(validation, "trusted_ca")];
  const certificates = sources.flatMap((source) => certificatesOf(source).slice(0, 1));
  const status = textAt(entry, "version_info") === "uninitialized" ? "UNINITIALIZED" : state;
  const found = certificates.length > 0 ? certificates.map((der) => certificateTexts(der, now)) : [NO_CERTIFICATE];
  return found.map(([type, ...more]) => [textAt(entry, "name"), type, status, ...more]);
}

type CertificateTexts = readonly [type: string, valid: string, serial: string, notAfter: string, notBefore: string];

const NO_CERTIFICATE: CertificateTexts = ["-", "false", "-", "-", "-"];

function certificateTexts(der: Uint8Array, now: Date): CertificateTexts {
  try {
    const { notBefore, notAfter } = readCertificate(der);
    const { ca, serialNumber } = new (nodeCrypto().X509Certificate)(der);
    return [
      ca ? "CA" : "Cert Chain",
      String(notBefore < now && now < notAfter),
      serialNumber.toLowerCase().padStart(32, "0"),
      dateText(notAfter),
      dateText(notBefore),
    ];
  } catch {
    // Show bytes that are not a certificate as a row without values.
    return NO_CERTIFICATE;
  }
}

/** Returns a time in RFC 3339 without fractions of a second: certificates have none. */
function dateText(date: Date): string {
  return date.toISOString().replace(".000Z", "Z");
}
