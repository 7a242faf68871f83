import { messageOf } from "../../../base/errors.ts";
import { type CertificateInfo, decodePems, readCertificate } from "../../../golang/x509/mod.ts";
import type { Finding } from "../../check.ts";
import { configurationRef, type InjectorWebhook } from "../../inventory/injector_webhooks.ts";
import type { Facts } from "../../facts.ts";
import { findingOf, type Problem, type ProblemOf } from "../findings.ts";
import { distinct } from "./injectors.ts";
import { restarted } from "./webhook_advice.ts";

export interface Authority {
  readonly der: Uint8Array;
  readonly info: CertificateInfo;
}

/** Maximum length of a caBundle to parse, in characters. A normal caBundle has a few thousand. */
const MAX_CHARACTERS = 4 * 1024 * 1024;

/** Returns the certificates in a caBundle (PEM in base64). Throws an Error with the reason if it is invalid. */
export function authoritiesOf(caBundle: string): Authority[] {
  if (caBundle.length > MAX_CHARACTERS) throw new Error("it is too large");
  const blocks = decodePems(binaryOf(caBundle)).filter(({ type }) => type === "CERTIFICATE");
  if (blocks.length === 0) throw new Error("it contains no PEM certificate");
  return blocks.map(({ bytes }) => ({ der: bytes, info: readCertificate(bytes) }));
}

function binaryOf(base64: string): string {
  try {
    return atob(base64);
  } catch {
    // atob throws an InvalidCharacterError.
    throw new Error("it is not base64");
  }
}

/** Checks that each caBundle contains a valid certificate with more than a third of its lifetime left. */
export function bundleValid(webhooks: readonly InjectorWebhook[], { clock }: Facts): Finding {
  const now = clock.now();
  const problems = distinct(webhooks, ({ configuration, caBundle }) => [configuration, caBundle])
    .flatMap((webhook): Problem[] => {
      const problem = bundleProblem(webhook, now);
      if (problem === undefined) return [];
      return [{ object: configurationRef(webhook), ...problem, advice: restarted(webhook.target) }];
    });
  return findingOf(problems);
}

/** Returns the problem of a caBundle. May be empty with a URL: the API server then trusts the operating system's CAs. */
function bundleProblem({ caBundle, target }: InjectorWebhook, now: Date): ProblemOf | undefined {
  if (caBundle === "" && "url" in target) return undefined;
  if (caBundle === "") {
    return { result: "error", message: "its caBundle is empty, so the API server trusts no certificate" };
  }
  try {
    return validityProblem(authoritiesOf(caBundle).map(({ info }) => info), now);
  } catch (error) {
    return { result: "error", message: `its caBundle cannot be read: ${messageOf(error)}` };
  }
}

/** Requires one valid certificate, because a caBundle may also contain the previous and the next certificate. */
function validityProblem(all: readonly CertificateInfo[], now: Date): ProblemOf | undefined {
  const current = all.filter(({ notBefore, notAfter }) => notBefore <= now && now < notAfter);
  const [longest] = current.toSorted((a, b) => b.notAfter.getTime() - a.notAfter.getTime());
  if (longest !== undefined) return expiryProblem(longest, now);
  const [first] = all;
  if (first === undefined) return { result: "error", message: "its caBundle contains no certificate" };
  const message = now < first.notBefore
    ? `its caBundle is valid only from ${first.notBefore.toISOString()}`
    : `its caBundle expired at ${first.notAfter.toISOString()}`;
  return { result: "error", message };
}

const DAY = 24 * 60 * 60 * 1000;

/** Warns in the last third of a certificate's lifetime, as lifetimes range from a day to ten years (linkerd2 #5149). */
function expiryProblem({ notBefore, notAfter }: CertificateInfo, now: Date): ProblemOf | undefined {
  const left = notAfter.getTime() - now.getTime();
  if (left > (notAfter.getTime() - notBefore.getTime()) / 3) return undefined;
  const time = left >= 2 * DAY ? `${Math.floor(left / DAY)} days` : `${Math.floor(left / (DAY / 24))} hours`;
  return { result: "warning", message: `its caBundle expires at ${notAfter.toISOString()}, in ${time}` };
}
