import assert from "node:assert/strict";
import { sameBytes } from "../../base/bytes.ts";
import { isSignedBy, readCertificate } from "../../golang/x509/mod.ts";
import { serviceNames } from "./issue.ts";
import type { CertificateSet } from "./certificate_set.ts";
import { nextRenewal, type RenewalContext } from "./renewal.ts";

const DAY = 86_400_000;
const START = Date.parse("2026-11-21T00:00:00Z");
const LIFETIMES = { serving: 90 * DAY, authority: 3650 * DAY, overlap: DAY };
const NAMES = serviceNames("webhook", "mesh");

function at(day: number, changes: Partial<RenewalContext> = {}): RenewalContext {
  return { dnsNames: NAMES, lifetimes: LIFETIMES, now: new Date(START + day * DAY), jitter: 0, ...changes };
}

function made(context = at(0)): CertificateSet {
  const renewal = nextRenewal(undefined, context);
  assert(renewal !== undefined);
  return renewal.certificates;
}

Deno.test("without certificates it makes an authority and a serving certificate for the Service's names", () => {
  const { serving, authority, retired } = made();
  const { notAfter, dnsNames } = readCertificate(serving.certificate);
  assert.deepEqual([notAfter, dnsNames, retired], [new Date(START + 90 * DAY), NAMES, []]);
  assert.deepEqual(NAMES, ["webhook.mesh.svc", "webhook.mesh.svc.cluster.local"]);
  assert(isSignedBy(serving.certificate, authority.certificate));
  assert.deepEqual(readCertificate(authority.certificate).notAfter, new Date(START + 3650 * DAY));
});

const STEPS: readonly (readonly [what: string, context: RenewalContext, reason: string | undefined])[] = [
  ["at once", at(0), undefined],
  ["before two thirds of its time", at(59.9), undefined],
  ["after two thirds of its lifetime", at(60.1), "the serving certificate has passed two thirds of its lifetime"],
  ["later by chance", at(63, { jitter: 1 }), undefined],
  ["but not much later", at(64.6, { jitter: 1 }), "the serving certificate has passed two thirds of its lifetime"],
  ["after its end", at(91), "the serving certificate has expired, or was issued while the clock was wrong"],
  ["for another name", at(1, { dnsNames: ["other.mesh.svc"] }), "the serving certificate lacks a DNS name"],
  ["after the end of the authority", at(3651), "the CA has expired, or was issued while the clock was wrong"],
  ["by a clock that is a few minutes behind", at(-5 / (24 * 60)), undefined],
  [
    "that is for the future",
    at(-30),
    "the CA has expired, or was issued while the clock was wrong",
  ],
];

for (const [what, context, reason] of STEPS) {
  Deno.test(`a serving certificate is ${reason === undefined ? "kept" : "renewed"} ${what}`, () => {
    assert.equal(nextRenewal(made(), context)?.reason, reason);
  });
}

Deno.test("a certificate for another name keeps the old names", () => {
  const renewed = nextRenewal(made(), at(1, { dnsNames: ["other.mesh.svc"] }))?.certificates;
  assert(renewed !== undefined);
  assert.deepEqual(readCertificate(renewed.serving.certificate).dnsNames, ["other.mesh.svc", ...NAMES]);
  assert.equal(nextRenewal(renewed, at(1)), undefined);
});

Deno.test("a serving certificate does not outlive its authority", () => {
  const { serving, authority } = made(at(0, { lifetimes: { ...LIFETIMES, authority: 30 * DAY } }));
  assert.deepEqual(
    readCertificate(serving.certificate).notAfter,
    readCertificate(authority.certificate).notAfter,
  );
});

Deno.test("over years, the served certificate is valid, and its authority has been trusted long enough", () => {
  const lifetimes = { serving: 9 * DAY, authority: 100 * DAY, overlap: DAY };
  let held = made(at(0, { lifetimes }));
  const trustedSince = new Map([[String(held.authority.certificate), -1]]);
  let [renewals, authorities] = [0, 1];
  for (let day = 0; day < 400; day += 0.5) {
    for (let next = nextRenewal(held, at(day, { lifetimes })); next; next = nextRenewal(held, at(day, { lifetimes }))) {
      if (!sameBytes(next.certificates.serving.certificate, held.serving.certificate)) renewals++;
      if (!sameBytes(next.certificates.authority.certificate, held.authority.certificate)) authorities++;
      held = next.certificates;
    }
    const trusted = [held.authority.certificate, ...held.retired];
    for (const each of trusted) trustedSince.set(String(each), trustedSince.get(String(each)) ?? day);
    const signer = trusted.find((each) => isSignedBy(held.serving.certificate, each));
    assert(signer !== undefined && trusted.length <= 2);
    const learned = (trustedSince.get(String(signer)) ?? Infinity) * DAY + START;
    assert(
      readCertificate(held.serving.certificate).notBefore.getTime() >= learned,
      `signed too early on day ${day}`,
    );
    assert(readCertificate(held.serving.certificate).notAfter.getTime() > START + (day + 2) * DAY);
  }
  assert.deepEqual([renewals, authorities], [66, 6]);
});
