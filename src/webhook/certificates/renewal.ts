/** When certificates are renewed. */
import { isSignedBy, readCertificateInfo } from "../../golang/x509/mod.ts";
import { CLOCK_SKEW, issueAuthority, issueServing } from "./issue.ts";
import type { CertificateSet } from "./certificate_set.ts";

/** Lifetimes in milliseconds. */
export interface Lifetimes {
  readonly serving: number;
  readonly authority: number;
  /**
   * How long a new authority is trusted before it signs, and an old one is trusted after its last signature: every API server
   * and every replica learns of the change meanwhile.
   */
  readonly overlap: number;
}

const MAX_NAMES = 20;
const HOUR = 3_600_000;

/** A serving certificate for 90 days, an authority for 10 years. */
export const LIFETIMES: Lifetimes = { serving: 90 * 24 * HOUR, authority: 3650 * 24 * HOUR, overlap: 24 * HOUR };

/** The input of a decision. */
export interface RenewalContext {
  readonly dnsNames: readonly string[];
  readonly lifetimes: Lifetimes;
  /** By the clock of the API server, which verifies the certificate. */
  readonly now: Date;
  /** From 0 to 1, different in each replica, so that they do not renew at once. */
  readonly jitter: number;
}

/** The next renewal. */
export interface Renewal {
  readonly certificates: CertificateSet;
  /** For the log. */
  readonly reason: string;
}

interface Rule {
  readonly reason: string;
  readonly applies: (held: CertificateSet, context: RenewalContext) => boolean;
  readonly renewed: (held: CertificateSet, context: RenewalContext) => CertificateSet;
}

/**
 * The next step; `undefined` if none is due. A new authority does not sign until the API servers trust it, unless the old one
 * has expired.
 */
export function nextRenewal(held: CertificateSet | undefined, context: RenewalContext): Renewal | undefined {
  if (held === undefined) return { certificates: allNew(context), reason: "the Secret had none" };
  const rule = RULES.find(({ applies }) => applies(held, context));
  return rule === undefined ? undefined : { certificates: rule.renewed(held, context), reason: rule.reason };
}

const RULES: readonly Rule[] = [
  {
    reason: "the authority has expired",
    applies: ({ authority }, { now }) => hasExpired(authority.certificate, now),
    renewed: (_, context) => allNew(context),
  },
  {
    reason: "the authority is not valid yet: the clock was wrong when it was made",
    applies: ({ authority }, { now }) => isEarly(authority.certificate, now),
    renewed: (_, context) => allNew(context),
  },
  {
    reason: "the serving certificate is not valid yet: the clock was wrong when it was made",
    applies: ({ serving }, { now }) => isEarly(serving.certificate, now),
    renewed: withServing,
  },
  {
    reason: "the serving certificate has expired",
    applies: ({ serving }, { now }) => hasExpired(serving.certificate, now),
    renewed: withServing,
  },
  {
    reason: "the serving certificate is for other names",
    applies: ({ serving }, { dnsNames }) => {
      const held = readCertificateInfo(serving.certificate).dnsNames;
      return !dnsNames.every((name) => held.includes(name));
    },
    renewed: withServing,
  },
  {
    reason: "two thirds of the lifetime of the serving certificate have passed",
    applies: (held, context) => isDue(held.serving.certificate, context) && isKnown(held, context),
    renewed: withServing,
  },
  {
    reason: "two thirds of the lifetime of the authority have passed",
    applies: ({ authority }, context) => isDue(authority.certificate, context),
    renewed: ({ serving, authority, retired }, { now, lifetimes }) => ({
      serving,
      authority: issueAuthority({ now, lifetime: lifetimes.authority }),
      retired: [authority.certificate, ...retired],
    }),
  },
  {
    reason: "a replaced authority is no longer needed",
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

/** Keeps the names of the old certificate: replicas with different names must not replace each other's certificate. */
function withServing(held: CertificateSet, { dnsNames, lifetimes, now }: RenewalContext): CertificateSet {
  const names = [...new Set([...dnsNames, ...readCertificateInfo(held.serving.certificate).dnsNames])].slice(
    0,
    MAX_NAMES,
  );
  return { ...held, serving: issueServing(held.authority, names, { now, lifetime: lifetimes.serving }) };
}

/** The API server refuses it until then. */
function isEarly(certificate: Uint8Array, now: Date): boolean {
  return readCertificateInfo(certificate).notBefore > now;
}

function hasExpired(certificate: Uint8Array, now: Date): boolean {
  return readCertificateInfo(certificate).notAfter <= now;
}

/** After two thirds of its lifetime, up to a twentieth later by the jitter. */
function isDue(certificate: Uint8Array, { now, jitter }: RenewalContext): boolean {
  const [made, end] = [madeAt(certificate), readCertificateInfo(certificate).notAfter.getTime()];
  return now.getTime() >= made + (end - made) * (2 / 3 + jitter / 20);
}

function madeAt(certificate: Uint8Array): number {
  return readCertificateInfo(certificate).notBefore.getTime() + CLOCK_SKEW;
}

/** Whether the newest authority has signed already, or has been trusted long enough. */
function isKnown({ serving, authority }: CertificateSet, { now, lifetimes }: RenewalContext): boolean {
  return isSignedBy(serving.certificate, authority.certificate) ||
    now.getTime() >= madeAt(authority.certificate) + lifetimes.overlap;
}

/** Whether no replica can still serve a certificate of a retired authority. */
function isOver(
  retired: Uint8Array,
  { serving, authority }: CertificateSet,
  { now, lifetimes }: RenewalContext,
): boolean {
  if (readCertificateInfo(retired).notAfter <= now) return true;
  const isReplaced = isSignedBy(serving.certificate, authority.certificate);
  return isReplaced && now.getTime() >= madeAt(serving.certificate) + lifetimes.overlap;
}
