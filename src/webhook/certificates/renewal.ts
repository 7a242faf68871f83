/** Decides when and how certificates are renewed. */
import { isSignedBy, readCertificate } from "../../golang/x509/mod.ts";
import { CLOCK_SKEW, issueAuthority, issueServing } from "./issue.ts";
import type { CertificateSet } from "./certificate_set.ts";

/** Lifetimes in milliseconds. */
export interface Lifetimes {
  readonly serving: number;
  readonly authority: number;
  /**
   * How long a new CA is trusted before it signs, and how long a replaced CA remains trusted. During this time, every
   * API server and every replica learns of the change.
   */
  readonly overlap: number;
}

const MAX_NAMES = 20;
const HOUR = 3_600_000;

/** Default lifetimes: 90 days for a serving certificate, 10 years for a CA. */
export const LIFETIMES: Lifetimes = { serving: 90 * 24 * HOUR, authority: 3650 * 24 * HOUR, overlap: 24 * HOUR };

export interface RenewalContext {
  readonly dnsNames: readonly string[];
  readonly lifetimes: Lifetimes;
  /** Current time by the clock of the API server, which verifies the certificate. */
  readonly now: Date;
  /** A number from 0 to 1 that differs between replicas, so that not all replicas renew at the same time. */
  readonly jitter: number;
}

export interface Renewal {
  readonly certificates: CertificateSet;
  readonly reason: string;
}

interface Rule {
  readonly reason: string;
  readonly applies: (held: CertificateSet, context: RenewalContext) => boolean;
  readonly renewed: (held: CertificateSet, context: RenewalContext) => CertificateSet;
}

/**
 * Returns the next renewal; `undefined` if no renewal is due. A new CA does not sign until the API servers trust it, unless
 * the old CA has expired.
 */
export function nextRenewal(held: CertificateSet | undefined, context: RenewalContext): Renewal | undefined {
  if (held === undefined) return { certificates: allNew(context), reason: "the Secret had no valid certificates" };
  const rule = RULES.find(({ applies }) => applies(held, context));
  return rule === undefined ? undefined : { certificates: rule.renewed(held, context), reason: rule.reason };
}

const RULES: readonly Rule[] = [
  {
    reason: "the CA has expired, or was issued while the clock was wrong",
    applies: ({ authority }, { now }) => !isValid(authority.certificate, now),
    renewed: (_, context) => allNew(context),
  },
  {
    reason: "the serving certificate has expired, or was issued while the clock was wrong",
    applies: ({ serving }, { now }) => !isValid(serving.certificate, now),
    renewed: withServing,
  },
  {
    reason: "the serving certificate lacks a DNS name",
    applies: ({ serving }, { dnsNames }) => {
      const held = readCertificate(serving.certificate).dnsNames;
      return !dnsNames.every((name) => held.includes(name));
    },
    renewed: withServing,
  },
  {
    reason: "the serving certificate has passed two thirds of its lifetime",
    applies: (held, context) => isDue(held.serving.certificate, context) && isKnown(held, context),
    renewed: withServing,
  },
  {
    reason: "the CA has passed two thirds of its lifetime",
    applies: ({ authority }, context) => isDue(authority.certificate, context),
    renewed: ({ serving, authority, retired }, { now, lifetimes }) => ({
      serving,
      authority: issueAuthority({ now, lifetime: lifetimes.authority }),
      retired: [authority.certificate, ...retired],
    }),
  },
  {
    reason: "a replaced CA is no longer needed",
    applies: (held, context) => held.retired.some((each) => isOver(each, held, context)),
    renewed: (held, context) => ({
      ...held,
      retired: held.retired.filter((each) => !isOver(each, held, context)),
    }),
  },
];

function allNew({ dnsNames, lifetimes, now }: RenewalContext): CertificateSet {
  const authority = issueAuthority({ now, lifetime: lifetimes.authority });
  return { serving: issueServing(authority, dnsNames, { now, lifetime: lifetimes.serving }), authority, retired: [] };
}

/** Issues a serving certificate. Keeps the old certificate's names, because replicas may have different names. */
function withServing(held: CertificateSet, { dnsNames, lifetimes, now }: RenewalContext): CertificateSet {
  const names = [...new Set([...dnsNames, ...readCertificate(held.serving.certificate).dnsNames])].slice(
    0,
    MAX_NAMES,
  );
  return { ...held, serving: issueServing(held.authority, names, { now, lifetime: lifetimes.serving }) };
}

/** Whether a certificate is valid at this time. The API server rejects expired certificates. */
function isValid(certificate: Uint8Array, now: Date): boolean {
  const { notBefore, notAfter } = readCertificate(certificate);
  return notBefore <= now && now < notAfter;
}

/** Whether two thirds of a certificate's lifetime have passed. The jitter adds up to a twentieth of the lifetime. */
function isDue(certificate: Uint8Array, { now, jitter }: RenewalContext): boolean {
  const [made, end] = [madeAt(certificate), readCertificate(certificate).notAfter.getTime()];
  return now.getTime() >= made + (end - made) * (2 / 3 + jitter / 20);
}

function madeAt(certificate: Uint8Array): number {
  return readCertificate(certificate).notBefore.getTime() + CLOCK_SKEW;
}

/**
 * Whether the newest CA may sign. It may if it has signed the current certificate, or if it is older than the overlap,
 * so that the API servers trust it.
 */
function isKnown({ serving, authority }: CertificateSet, { now, lifetimes }: RenewalContext): boolean {
  return isSignedBy(serving.certificate, authority.certificate) ||
    now.getTime() >= madeAt(authority.certificate) + lifetimes.overlap;
}

/** Whether a retired CA can be dropped: it has expired, or all replicas serve a certificate of the newest CA. */
function isOver(
  retired: Uint8Array,
  { serving, authority }: CertificateSet,
  { now, lifetimes }: RenewalContext,
): boolean {
  if (readCertificate(retired).notAfter <= now) return true;
  const isReplaced = isSignedBy(serving.certificate, authority.certificate);
  return isReplaced && now.getTime() >= madeAt(serving.certificate) + lifetimes.overlap;
}
