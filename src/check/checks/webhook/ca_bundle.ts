import { messageOf } from "../../../base/errors.ts";
import { type CertificateInfo, decodePems, readCertificate } from "../../../golang/x509/mod.ts";
import type { Finding } from "../../check.ts";
import { configurationRef, type InjectorWebhook } from "../../inventory/injector_webhooks.ts";
import type { Facts } from "../../facts.ts";
import { findingOf, type Problem } from "../findings.ts";
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

/** Returns the subject of a message about webhooks of one configuration. Names them if others of it are not affected. */
export function bundleOf(affected: readonly InjectorWebhook[], webhooks: readonly InjectorWebhook[]): string {
  const own = webhooks.filter(({ configuration }) => configuration === affected[0]?.configuration);
  if (affected.length === own.length) return "its caBundle";
  return `the caBundle of ${affected.map(({ name }) => `"${name}"`).join(", ")}`;
}

/** Checks that each caBundle contains a valid certificate with more than a third of its lifetime left. */
export function bundleValid(webhooks: readonly InjectorWebhook[], { clock }: Facts): Finding {
  const now = clock.now();
  const found = webhooks.flatMap((webhook) => {
    const state = bundleState(webhook, now);
    if (state === undefined) return [];
    return [{ webhook, object: configurationRef(webhook), ...state, advice: restarted(webhook.target) }];
  });
  const same = Map.groupBy(found, ({ webhook: _, ...rest }) => JSON.stringify(rest));
  const problems = [...same.values()].flatMap((group): Problem[] => {
    const bundle = bundleOf(group.map(({ webhook }) => webhook), webhooks);
    return group.slice(0, 1).map(({ object, result, state, advice }) => {
      return { object, result, message: `${bundle} ${state}`, advice };
    });
  });
  return findingOf(problems);
}

/** The end of a message, after the subject "its caBundle". */
interface BundleState {
  readonly result: "warning" | "error";
  readonly state: string;
}

/** Returns the problem of a caBundle. May be empty with a URL: the API server then trusts the operating system's CAs. */
function bundleState({ caBundle, target }: InjectorWebhook, now: Date): BundleState | undefined {
  if (caBundle === "" && "url" in target) return undefined;
  if (caBundle === "") {
    return { result: "error", state: "is empty, so the API server trusts no certificate" };
  }
  try {
    return validity(authoritiesOf(caBundle).map(({ info }) => info), now);
  } catch (error) {
    return { result: "error", state: `cannot be read: ${messageOf(error)}` };
  }
}

/** Requires one valid certificate, because a caBundle may also contain the previous and the next certificate. */
function validity(all: readonly CertificateInfo[], now: Date): BundleState | undefined {
  const current = all.filter(({ notBefore, notAfter }) => notBefore <= now && now < notAfter);
  const [longest] = current.toSorted((a, b) => b.notAfter.getTime() - a.notAfter.getTime());
  if (longest !== undefined) return expiry(longest, now);
  const [first] = all;
  if (first === undefined) return { result: "error", state: "contains no certificate" };
  const state = now < first.notBefore
    ? `is valid only from ${first.notBefore.toISOString()}`
    : `expired at ${first.notAfter.toISOString()}`;
  return { result: "error", state };
}

const DAY = 24 * 60 * 60 * 1000;

/** Warns in the last third of a certificate's lifetime, as lifetimes range from a day to ten years (linkerd2 #5149). */
function expiry({ notBefore, notAfter }: CertificateInfo, now: Date): BundleState | undefined {
  const left = notAfter.getTime() - now.getTime();
  if (left > (notAfter.getTime() - notBefore.getTime()) / 3) return undefined;
  const time = left >= 2 * DAY ? `${Math.floor(left / DAY)} days` : `${Math.floor(left / (DAY / 24))} hours`;
  return { result: "warning", state: `expires at ${notAfter.toISOString()}, in ${time}` };
}
