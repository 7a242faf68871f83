/** Graceful shutdown of the webhook. */
import assert from "node:assert/strict";
import { testWhen } from "../../support/test_when.ts";
import { until } from "../../support/until.ts";
import { review, reviewOf, WebhookServer } from "./support/server.ts";

const notLinux = Deno.build.os === "linux" ? undefined : "not Linux";

/** A review whose body stays open until `finish`. */
function openReview(server: WebhookServer, client: Deno.HttpClient) {
  const { readable, writable } = new TransformStream<Uint8Array, Uint8Array>();
  const writer = writable.getWriter();
  const text = new TextEncoder().encode(reviewOf("last"));
  writer.write(text.slice(0, 100));
  const headers = { "content-type": "application/json" };
  const answer = fetch(`${server.url}/inject`, { client, method: "POST", headers, body: readable });
  return {
    async finish() {
      await writer.write(text.slice(100));
      await writer.close();
      return await (await answer).text();
    },
    answer,
  };
}

async function reviewsInFlight(server: WebhookServer, count: number): Promise<void> {
  const line = new RegExp(`^mesh_webhook_reviews_under_way ${count}$`, "m");
  await until(async () => line.test(await server.page("/metrics")), () => `never ${count} reviews in flight`);
}

testWhen(
  notLinux,
  "after SIGTERM the webhook is not ready, still serves, and answers reviews in flight",
  async () => {
    await using server = await WebhookServer.start("--shutdown-delay=2s");
    using client = server.client();
    const last = openReview(server, client);
    await reviewsInFlight(server, 1);
    server.signal("SIGTERM");
    await server.said(/Received SIGTERM/);
    const ready = await fetch(`${server.plainUrl}/ready?verbose`);
    assert.deepEqual([ready.status, await ready.text()], [
      503,
      "[-]running failed: received SIGTERM\n[+]config ok: the newest configuration is in force\n" +
      "[+]certificate ok: the newest certificate is served\nnot ready\n",
    ]);
    assert.equal(await server.page("/healthz"), "ok\n");
    using fresh = server.client();
    assert.equal((await review(server, fresh, reviewOf("new"))).status, 200);
    const closed = () =>
      Deno.connect({ hostname: "127.0.0.1", port: server.port }).then(
        (connection) => {
          connection.close();
          return false;
        },
        () => true,
      );
    await until(closed, () => "it never stops to take connections");
    assert.match(await last.finish(), /"uid":"uid-last","allowed":true/);
    assert.equal(await server.code, 0, server.log);
    assert.match(server.log, /The webhook has stopped\n$/);
  },
);

testWhen(notLinux, "shutdown waits only for a limited time for a review", async () => {
  await using server = await WebhookServer.start("--shutdown-delay=0s", "--shutdown-timeout=300ms");
  using client = server.client();
  const cut = assert.rejects(openReview(server, client).answer);
  await reviewsInFlight(server, 1);
  server.signal("SIGTERM");
  assert.equal(await server.code, 0);
  assert.match(
    server.log,
    /warning webhook: Closing connections, although some reviews were not answered within 300 ms\n/,
  );
  await cut;
});

for (const [signal, code] of [["SIGTERM", 143], ["SIGINT", 130]] as const) {
  testWhen(notLinux, `a second signal ends the webhook immediately: ${signal}`, async () => {
    await using server = await WebhookServer.start("--shutdown-delay=10m", "--shutdown-timeout=10m");
    using client = server.client();
    const cut = assert.rejects(openReview(server, client).answer);
    await reviewsInFlight(server, 1);
    server.signal("SIGTERM");
    await server.said(/Received SIGTERM/);
    server.signal(signal);
    assert.equal(await server.code, code);
    await cut;
  });
}

testWhen(notLinux, "SIGINT at a terminal skips the shutdown delay", async () => {
  await using server = await WebhookServer.start("--shutdown-delay=10m");
  server.signal("SIGINT");
  assert.equal(await server.code, 0);
});
