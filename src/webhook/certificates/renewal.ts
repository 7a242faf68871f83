/** When certificates are made anew. */
import { isSignedBy, readCertificateInfo } from "../../core/x509/mod.ts";
import { CLOCK_SKEW, issueAuthority, issueServing } from "./issue.ts";
import type { Material } from "./material.ts";

/** How long things last, in milliseconds. */
export interface Lifetimes {
  readonly serving: number;
  readonly authority: number;
  /**
   * How long a new authority is only trusted before it signs, and an old one still trusted after it signs no more: time
   * for every API server and every replica to learn of it.
   */
  readonly overlap: number;
}

const MAX_NAMES = 20;
const HOUR = 3_600_000;

/** A serving certificate for 90 days, an authority for 10 years. */
export const LIFETIMES: Lifetimes = { serving: 90 * 24 * HOUR, authority: 3650 * 24 * HOUR, overlap: 24 * HOUR };

/** What a decision takes into account. */
export interface Circumstances {
  readonly dnsNames: readonly string[];
  readonly lifetimes: Lifetimes;
  readonly now: Date;
  /** From 0 to 1, of each replica its own: so that not all renew at once. */
  readonly jitter: number;
}

/** What there is to do. */
export interface Renewal {
  readonly material: Material;
  /** What is done and why, for the log. */
  readonly reason: string;
}

interface Rule {
  readonly reason: string;
  readonly applies: (held: Material, circumstances: Circumstances) => boolean;
  readonly renewed: (held: Material, circumstances: Circumstances) => Material;
}

/**
 * The next step, `undefined` if nothing is to be done. One step at a time: the serving certificate is never renewed by an
 * authority that the API servers have not had time to learn of, unless there is no other way.
 */
export function nextRenewal(held: Material | undefined, circumstances: Circumstances): Renewal | undefined {
  if (held === undefined) return { material: allNew(circumstances), reason: "there was none" };
  const rule = RULES.find(({ applies }) => applies(held, circumstances));
  return rule === undefined ? undefined : { material: rule.renewed(held, circumstances), reason: rule.reason };
}

const RULES: readonly Rule[] = [
  {
    reason: "the authority has expired",
    applies: ({ authority }, { now }) => hasExpired(authority.certificate, now),
    renewed: (_, circumstances) => allNew(circumstances),
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
    reason: "two thirds of the time of the serving certificate are over",
    applies: (held, circumstances) => isDue(held.serving.certificate, circumstances) && isKnown(held, circumstances),
    renewed: withServing,
  },
  {
    reason: "two thirds of the time of the authority are over",
    applies: ({ authority }, circumstances) => isDue(authority.certificate, circumstances),
    renewed: ({ serving, authority, retired }, { now, lifetimes }) => ({
      serving,
      authority: issueAuthority({ now, lifetime: lifetimes.authority }),
      retired: [authority.certificate, ...retired],
    }),
  },
  {
    reason: "an authority that was replaced is needed no more",
    applies: (held, circumstances) => held.retired.some((each) => isOver(each, held, circumstances)),
    renewed: (held, circumstances) => ({
      ...held,
      retired: held.retired.filter((each) => !isOver(each, held, circumstances)),
    }),
  },
];

function allNew({ dnsNames, lifetimes, now }: Circumstances): Material {
  const authority = issueAuthority({ now, lifetime: lifetimes.authority });
  return { serving: issueServing(authority, dnsNames, { now, lifetime: lifetimes.serving }), authority, retired: [] };
}

/** Names that the old one has stay: replicas that are told different names must not take turns. */
function withServing(held: Material, { dnsNames, lifetimes, now }: Circumstances): Material {
  const names = [...new Set([...dnsNames, ...readCertificateInfo(held.serving.certificate).dnsNames])].slice(
    0,
    MAX_NAMES,
  );
  return { ...held, serving: issueServing(held.authority, names, { now, lifetime: lifetimes.serving }) };
}

/** One that is not valid yet is no reason to make another: the clock of this replica is wrong, not that of all others. */
function hasExpired(certificate: Uint8Array, now: Date): boolean {
  return readCertificateInfo(certificate).notAfter <= now;
}

/** From two thirds of its time on, up to a twentieth later by chance. */
function isDue(certificate: Uint8Array, { now, jitter }: Circumstances): boolean {
  const [made, end] = [madeAt(certificate), readCertificateInfo(certificate).notAfter.getTime()];
  return now.getTime() >= made + (end - made) * (2 / 3 + jitter / 20);
}

function madeAt(certificate: Uint8Array): number {
  return readCertificateInfo(certificate).notBefore.getTime() + CLOCK_SKEW;
}

/** Whether the newest authority signed already, or has been trusted long enough to begin. */
function isKnown({ serving, authority }: Material, { now, lifetimes }: Circumstances): boolean {
  return isSignedBy(serving.certificate, authority.certificate) ||
    now.getTime() >= madeAt(authority.certificate) + lifetimes.overlap;
}

/** Whether no replica can still serve with what a retired authority signed. */
function isOver(retired: Uint8Array, { serving, authority }: Material, { now, lifetimes }: Circumstances): boolean {
  if (readCertificateInfo(retired).notAfter <= now) return true;
  const isReplaced = isSignedBy(serving.certificate, authority.certificate);
  return isReplaced && now.getTime() >= madeAt(serving.certificate) + lifetimes.overlap;
}
