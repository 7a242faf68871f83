import assert from "node:assert/strict";
import { testCertificate } from "../../../../test/support/tls/certificates.ts";
import { object } from "../../../../test/support/kube/cluster.ts";
import { shownText } from "../../../../test/support/kube/shown.ts";
import { webhookFinding, withBundle } from "../../../../test/support/kube/webhook_check.ts";
import { mapsAt } from "../../../base/value.ts";
import type { KubeObject } from "../../../kube/client/mod.ts";

const DAY = 24 * 60 * 60 * 1000;

/** Returns the time in this number of days. */
function day(days: number): Date {
  return new Date(Date.now() + days * DAY);
}

async function bundle(pem: string, now?: Date): Promise<readonly [string, string]> {
  const { result, message = "" } = await webhookFinding("webhook-ca-bundle", { objects: [withBundle(pem)] }, now);
  return [result, message];
}

Deno.test("a caBundle is a warning in the last third of its lifetime, and an error after it", async () => {
  // Valid from 100 days ago for 300 days: the last third begins in 100 days.
  const { authority } = testCertificate(200n);
  assert.deepEqual(await bundle(authority), ["ok", ""]);
  assert.deepEqual(await bundle(authority, day(99)), ["ok", ""]);
  const [warned, near] = await bundle(authority, day(101));
  assert.equal(warned, "warning");
  assert.match(near, /its caBundle expires at \d{4}-\S+Z, in 98 days/);
  assert.match((await bundle(authority, day(199)))[1], /in 2\d hours/);
  const [failed, over] = await bundle(authority, day(201));
  assert.equal(failed, "error");
  assert.match(over, /its caBundle expired at /);
  assert.match((await bundle(authority, day(-101)))[1], /its caBundle is valid only from /);
});

Deno.test("one valid certificate in a bundle is enough", async () => {
  const [old, fresh] = [testCertificate(-1n), testCertificate(200n)];
  assert.deepEqual(await bundle(`${old.authority}${fresh.authority}`), ["ok", ""]);
  assert.equal((await bundle(old.authority))[0], "error");
});

Deno.test("an unreadable caBundle is an error", async () => {
  assert.match((await bundle(""))[1], /its caBundle is empty/);
  assert.match((await bundle("hello"))[1], /cannot be read: it contains no PEM certificate/);
  const broken = `-----BEGIN CERTIFICATE-----\n${btoa("hello")}\n-----END CERTIFICATE-----\n`;
  assert.match((await bundle(broken))[1], /cannot be read: x509: malformed certificate/);
});

const [mine, foreign] = [testCertificate(200n), testCertificate(200n)];

async function agreement(...objects: KubeObject[]): Promise<readonly [string, string]> {
  const options = { objects: [withBundle(mine.authority), ...objects] };
  const { result, message = "" } = await webhookFinding("webhook-certificate", options);
  return [result, message];
}

function secret(name: string, key: string, pem: string): KubeObject {
  return object("v1", "Secret", `istio-system/${name}`, { data: { [key]: btoa(pem) } });
}

Deno.test("the certificate of this program's webhook is signed by the caBundle", async () => {
  const name = "kubectl-mesh-webhook-certificates";
  assert.deepEqual(await agreement(secret(name, "tls.crt", mine.certificate)), [
    "ok",
    `Secret "istio-system/${name}"`,
  ]);
  const [result, message] = await agreement(secret(name, "tls.crt", foreign.certificate));
  assert.equal(result, "error");
  assert.match(message, /no certificate in its caBundle signed the certificate in the Secret "istio-system\//);
});

Deno.test("istiod's authority is in the caBundle: plugged in, self-signed, or from its ConfigMap", async () => {
  const own = secret("istio-ca-secret", "ca-cert.pem", foreign.authority);
  assert.equal((await agreement(secret("cacerts", "root-cert.pem", mine.authority), own))[0], "ok");
  const [result, message] = await agreement(own);
  assert.equal(result, "error");
  assert.match(message, /does not contain the authority of the Secret "istio-system\/istio-ca-secret"/);
  const data = { "root-cert.pem": mine.authority };
  const map = object("v1", "ConfigMap", "istio-system/istio-ca-root-cert", { data });
  assert.deepEqual(await agreement(map), ["ok", 'ConfigMap "istio-system/istio-ca-root-cert"']);
});

Deno.test("without a visible certificate the result is unknown", async () => {
  assert.equal((await agreement())[0], "unknown");
  const forbidden = { objects: [withBundle(mine.authority)], forbidden: /secrets/ };
  assert.deepEqual(await webhookFinding("webhook-certificate", forbidden), {
    result: "unknown",
    message: 'cannot tell: needs get on secrets in the namespace "istio-system"',
    missingRight: 'get on secrets in the namespace "istio-system"',
  });
});

/** Returns the configuration with `mine`, and with another caBundle (PEM) in some of its webhooks. */
function withBundles(pem: string, isOther: (index: number) => boolean): KubeObject {
  const [good, bad] = [withBundle(mine.authority), withBundle(pem)];
  const others = mapsAt({ ...bad }, "webhooks");
  return { ...good, webhooks: mapsAt({ ...good }, "webhooks").map((each, i) => isOther(i) ? others[i] ?? each : each) };
}

const NAMES = ["rev.namespace", "rev.object", "namespace", "object"].map((name) => `${name}.sidecar-injector.istio.io`);
const CONFIGURATION = "mutatingwebhookconfiguration/istio-sidecar-injector";
const HELD = secret("istio-ca-secret", "ca-cert.pem", mine.authority);
const WITHOUT_AUTHORITY = 'does not contain the authority of the Secret "istio-system/istio-ca-secret"';

async function messages(id: string, ...objects: KubeObject[]): Promise<string | undefined> {
  return (await webhookFinding(id, { objects })).message;
}

for (const [index, name] of NAMES.entries()) {
  Deno.test(`a foreign caBundle in only one webhook is an error: ${name}`, async () => {
    const configuration = withBundles(foreign.authority, (each) => each === index);
    const { result, message } = await webhookFinding("webhook-certificate", { objects: [configuration, HELD] });
    assert.equal(result, "error");
    assert.equal(message, `${CONFIGURATION}: the caBundle of "${name}" ${WITHOUT_AUTHORITY}`);
  });
}

Deno.test("webhooks with the same problem share a line, which names none if all have it", async () => {
  const last = withBundles(foreign.authority, (index) => index > 1);
  const all = withBundles(foreign.authority, () => true);
  const names = `"${NAMES[2]}", "${NAMES[3]}"`;
  assert.equal(
    await messages("webhook-certificate", last, HELD),
    `${CONFIGURATION}: the caBundle of ${names} ${WITHOUT_AUTHORITY}`,
  );
  assert.equal(await messages("webhook-certificate", all, HELD), `${CONFIGURATION}: its caBundle ${WITHOUT_AUTHORITY}`);
  const unreadable = "cannot be read: it contains no PEM certificate";
  const broken = withBundles("hello", (index) => index > 1);
  assert.equal(await messages("webhook-ca-bundle", broken), `${CONFIGURATION}: the caBundle of ${names} ${unreadable}`);
  assert.equal(
    await messages("webhook-ca-bundle", withBundles("hello", () => true)),
    `${CONFIGURATION}: its caBundle ${unreadable}`,
  );
});

Deno.test("an expired certificate is reported beside a caBundle that does not match it", async () => {
  const served = secret("kubectl-mesh-webhook-certificates", "tls.crt", mine.certificate);
  const objects = [withBundles(foreign.authority, (index) => index === 3), served];
  const finding = await webhookFinding("webhook-certificate", { objects }, day(10_000));
  const { message = "" } = finding;
  const [first = "", second = "", ...others] = message.split("\n");
  assert.match(first, /: no certificate in the caBundle of "object\.\S+" signed the certificate in the Secret /);
  assert.match(second, /: the certificate in the Secret "\S+" expired at /);
  assert.deepEqual(others, []);
  assert.equal((await shownText(finding)).split("rollout restart").length, 2);
});

Deno.test("no private key is ever printed", async () => {
  const holder = object("v1", "Secret", "istio-system/istio-ca-secret", {
    data: { "ca-cert.pem": btoa(foreign.authority), "ca-key.pem": btoa(foreign.key) },
  });
  assert.doesNotMatch((await agreement(holder))[1], /PRIVATE|BEGIN/);
});
