/** Reads the workload's certificate: identity, expiry and issuer. */
import { ageText } from "../../base/text/mod.ts";
import { isMap, listAt, mapAt, mapsAt, textAt, type ValueMap } from "../../base/value.ts";
import { decodePems, distinguishedName, readCertificate } from "../../golang/x509/mod.ts";
import type { EnvoyConfig } from "../envoy/config.ts";
import { certificatesOf } from "../envoy/data_source.ts";
import type { PodName, Snapshot } from "../snapshot/snapshot.ts";
import { workloadOf, type ZtunnelDump } from "../ztunnel/dump.ts";
import { jsonOf } from "../snapshot/json_part.ts";
import { millisecondsOf, secondsBetween } from "./age.ts";
import type { Certificate } from "./pod_summary_schema.ts";

type Root = Certificate["roots"][number];
type Known = Pick<Certificate, "identity" | "issuer" | "notBefore" | "notAfter" | "roots">;

const UNKNOWN: Known = { identity: "", issuer: "", notBefore: "", notAfter: "", roots: [] };

/**
 * Returns the current certificate. In ambient mode, ztunnel has the certificate. Otherwise it comes from Envoy's
 * configuration, or else from `certs.json`, which does not contain the issuer.
 */
export function certificateOf(
  { pod, time, parts }: Snapshot,
  config: EnvoyConfig | undefined,
  ztunnel: ZtunnelDump | string,
): Certificate {
  const now = time?.getTime();
  if (typeof ztunnel !== "string") return ztunnelCertificate(ztunnel, pod, now);
  const known = ofSecrets(config) ?? ofSummary(parts);
  if (known !== undefined) return { ...known, ...judged(known, now) };
  const warming = mapsAt(config?.section(SECRETS) ?? {}, "dynamic_warming_secrets");
  const names = warming.map((each) => textAt(each, "name")).join(", ");
  const why = parts["certs.json"].message ?? parts["config_dump.json"].message;
  return names === ""
    ? { ...UNKNOWN, lasts: null, result: "unknown", message: why ?? "Envoy has no workload certificate" }
    : { ...UNKNOWN, lasts: null, result: "error", message: `Envoy waits for its certificate (${names})` };
}

function ztunnelCertificate(dump: ZtunnelDump, pod: PodName, now: number | undefined): Certificate {
  const identity = workloadOf(dump, pod)?.identity;
  const found = dump.certificates.find((each) => each.identity === identity);
  const unknown = { ...UNKNOWN, identity: identity ?? "", lasts: null };
  if (found === undefined) {
    return { ...unknown, result: "unknown", message: "the ztunnel of its node has no certificate for the pod" };
  }
  const [leaf] = decodePems(found.leaf);
  if (leaf === undefined) {
    const result = found.state.startsWith("Unavailable") ? "error" : "unknown";
    return { ...unknown, result, message: `the ztunnel of its node has no certificate for the pod: ${found.state}` };
  }
  const roots = found.roots.flatMap((pem) => decodePems(pem).map(({ bytes }) => rootOf(bytes)));
  const known = { ...ofLeaf(leaf.bytes), identity: found.identity, roots };
  return { ...known, ...judged(known, now) };
}

function ofLeaf(der: Uint8Array): Omit<Known, "roots"> {
  const { uris, dnsNames, issuer, notBefore, notAfter } = readCertificate(der);
  return {
    identity: uris[0] ?? dnsNames[0] ?? "",
    issuer: distinguishedName(issuer),
    notBefore: notBefore.toISOString(),
    notAfter: notAfter.toISOString(),
  };
}

/** Remaining seconds below which to warn. Certificates are renewed much earlier, at half of their lifetime. */
const SOON_SECONDS = 3600;

function judged(
  { notBefore, notAfter }: Known,
  now: number | undefined,
): Pick<Certificate, "lasts" | "result" | "message"> {
  const lasts = secondsBetween(now, millisecondsOf(notAfter));
  if (lasts === null) return { lasts, result: "unknown", message: "its expiry is unknown" };
  if (lasts <= 0) return { lasts, result: "error", message: `it expired ${ageText(-lasts)} ago` };
  const started = secondsBetween(millisecondsOf(notBefore), now);
  if (started !== null && started < 0) {
    return { lasts, result: "error", message: `it becomes valid in ${ageText(-started)}: the clocks differ` };
  }
  const whole = secondsBetween(millisecondsOf(notBefore), millisecondsOf(notAfter)) ?? 0;
  const isLate = lasts < Math.min(SOON_SECONDS, whole / 5);
  const text = `valid for ${ageText(lasts)}`;
  return { lasts, result: isLate ? "warning" : "ok", message: isLate ? `${text}: it should have been renewed` : text };
}

const SECRETS = "SecretsConfigDump";

function secretsOf(config: EnvoyConfig | undefined): readonly ValueMap[] {
  const section = config?.section(SECRETS) ?? {};
  return [...mapsAt(section, "static_secrets"), ...mapsAt(section, "dynamic_active_secrets")]
    .map((each) => mapAt(each, "secret"));
}

/** Returns the workload's certificate, followed by its intermediates. */
function chainOf(all: readonly ValueMap[]): readonly Uint8Array[] {
  const own = all.find((secret) => textAt(secret, "name") === "default") ??
    all.find((each) => isMap(each["tls_certificate"]));
  return own === undefined ? [] : certificatesOf(mapAt(mapAt(own, "tls_certificate"), "certificate_chain"));
}

/** Returns the issuers of the workload's certificate and its intermediates; empty if unknown. */
export function issuersOf(config: EnvoyConfig | undefined): ReadonlySet<string> {
  try {
    return new Set(chainOf(secretsOf(config)).map((der) => distinguishedName(readCertificate(der).issuer)));
  } catch {
    // The bytes are not valid certificates.
    return new Set();
  }
}

function ofSecrets(config: EnvoyConfig | undefined): Known | undefined {
  const all = secretsOf(config);
  const [leaf] = chainOf(all);
  if (leaf === undefined) return undefined;
  try {
    const trusted = all.filter((each) => isMap(each["validation_context"])).flatMap((secret) =>
      certificatesOf(mapAt(mapAt(secret, "validation_context"), "trusted_ca"))
    );
    return { ...ofLeaf(leaf), roots: trusted.map(rootOf) };
  } catch {
    // The bytes are not a certificate; certs.json can contain the values.
    return undefined;
  }
}

function rootOf(der: Uint8Array): Root {
  const { notAfter, subject } = readCertificate(der);
  return { subject: distinguishedName(subject) || "(no name)", notAfter: notAfter.toISOString() };
}

/** Returns the first certificate in `certs.json` that has a SPIFFE ID. */
function ofSummary(parts: Snapshot["parts"]): Known | undefined {
  const { value } = jsonOf(parts["certs.json"], "certs.json");
  if (value === undefined) return undefined;
  for (const entry of mapsAt(value, "certificates")) {
    const [leaf] = mapsAt(entry, "cert_chain");
    if (leaf === undefined) continue;
    const identity = listAt(leaf, "subject_alt_names").filter(isMap).map((each) => textAt(each, "uri"))[0] ?? "";
    const roots = mapsAt(entry, "ca_cert").map((root) => ({
      subject: `serial number ${textAt(root, "serial_number")}`,
      notAfter: textAt(root, "expiration_time"),
    }));
    const [notBefore, notAfter] = [textAt(leaf, "valid_from"), textAt(leaf, "expiration_time")];
    return { identity, issuer: "", notBefore, notAfter, roots };
  }
  return undefined;
}
