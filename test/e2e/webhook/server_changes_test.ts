/** New configurations and certificates while reviews come. */
import assert from "node:assert/strict";
import { setTimeout as delay } from "node:timers/promises";
import { testCertificate } from "../../support/tls/certificates.ts";
import { testWhen } from "../../support/test_when.ts";
import { until } from "../../support/until.ts";
import { configurationOf, review, reviewOf, secretOf, WebhookServer } from "./support/server.ts";

const notLinux = Deno.build.os === "linux" ? undefined : "not Linux";

/** Milliseconds between two reviews of a connection. The server looks for new files only every few seconds. */
const PAUSE = 20;

/** Sends reviews until it is stopped. Each answer must have a patch. */
function load(server: WebhookServer, authority = server.certificate.authority) {
  const stop = new AbortController();
  const counts = { kept: 0, fresh: 0 };
  const patches = new Set<string>();
  const one = async (client: Deno.HttpClient) => {
    const { status, text, patch } = await review(server, client, reviewOf("web"));
    assert.equal(status, 200, text);
    assert.notEqual(patch, "", text);
    patches.add(/"config":"(\w+)"/.exec(patch)?.[1] ?? /config","value":"(\w+)"/.exec(patch)?.[1] ?? patch);
    await delay(PAUSE);
  };
  const trusting = { ...server.certificate, authority };
  const workers = [1, 2].flatMap(() => [
    (async () => {
      using client = server.client(trusting);
      for (; !stop.signal.aborted; counts.kept++) await one(client);
    })(),
    (async () => {
      for (; !stop.signal.aborted; counts.fresh++) {
        using client = server.client(trusting);
        await one(client);
      }
    })(),
  ]);
  const ended = Promise.all(workers);
  return {
    counts,
    patches,
    async end() {
      stop.abort();
      await ended;
    },
  };
}

testWhen(
  notLinux,
  "a new configuration is applied under load; an invalid one is reported and ignored",
  async () => {
    await using server = await WebhookServer.start();
    const running = load(server);
    await until(() => running.patches.has("one"), () => "no review is answered");
    await server.configuration.put({ config: configurationOf("two") });
    await until(() => running.patches.has("two"), () => `the new configuration has no effect: ${server.log}`);
    await server.configuration.put({ config: 'policy: enabled\ntemplates:\n  sidecar: "{{ if }}"\n' });
    await server.said(/error webhook: Cannot use the new configuration, keeping the previous one: .*config/);
    assert.match(
      await server.page("/ready?verbose"),
      /^\[!\]config failed: .*\/config: .*"sidecar".*\n[^]*\nready\n$/m,
    );
    assert.match(await server.page("/metrics"), /^mesh_webhook_config_valid 0$/m);
    running.patches.clear();
    await until(() => running.patches.size > 0, () => "no review is answered");
    assert.deepEqual([...running.patches], ["two"]);
    await server.configuration.put({ config: configurationOf("three") });
    await until(() => running.patches.has("three"), () => `the last configuration has no effect: ${server.log}`);
    await running.end();
    assert.match(await server.page("/ready?verbose"), /^\[\+\]config ok: /m);
    const metrics = await server.page("/metrics");
    assert.match(metrics, /^mesh_webhook_config_valid 1$/m);
    assert.match(metrics, /^mesh_webhook_config_changes_total\{result="accepted"\} 2$/m);
    assert.match(metrics, /^mesh_webhook_config_changes_total\{result="refused"\} 1$/m);
    assert.equal(server.log.match(/Cannot use/g)?.length, 1);
  },
);

testWhen(
  notLinux,
  "certificates are replaced under load, no review fails; an invalid key pair is reported and not served",
  async () => {
    await using server = await WebhookServer.start();
    const next = testCertificate(20n);
    const running = load(server, server.certificate.authority + next.authority);
    await until(() => running.counts.fresh > 4, () => "no review is answered");
    await server.secret.put({ ...secretOf(next), "tls.key": server.certificate.key });
    await server.said(
      /error webhook: Cannot use the new certificate, keeping the previous one: The key ".*tls.key" does not belong/,
    );
    assert.match(await server.page("/metrics"), /^mesh_webhook_certificate_valid 0$/m);
    await server.secret.put(secretOf(next));
    await server.said(/Serving the new certificate on new connections/);
    const before = { ...running.counts };
    await until(
      () => running.counts.fresh > before.fresh + 8 && running.counts.kept > before.kept + 8,
      () => "reviews are not answered after the swap",
    );
    await running.end();
    using trusting = server.client(next);
    assert.equal((await review(server, trusting, reviewOf("web"))).status, 200);
    using old = server.client();
    await assert.rejects(review(server, old, reviewOf("web")), /certificate/);
    const metrics = await server.page("/metrics");
    assert.match(metrics, /^mesh_webhook_certificate_valid 1$/m);
    assert.doesNotMatch(metrics, /result="failed"/);
    const expiry = Number(/^mesh_webhook_certificate_expiry_timestamp_seconds (\d+)$/m.exec(metrics)?.[1]);
    assert.ok(Math.abs(expiry - Date.now() / 1000 - 20 * 86_400) < 3600, String(expiry));
    assert.doesNotMatch(server.log, /PRIVATE KEY/);
  },
);
