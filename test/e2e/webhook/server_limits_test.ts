/** Slow, wrong and many clients. */
import assert from "node:assert/strict";
import { needsProgram, testWhen } from "../../support/test_when.ts";
import { review, reviewOf, WebhookServer } from "./support/server.ts";

const notLinux = Deno.build.os === "linux" ? undefined : "not Linux";
const JSON_TYPE = { "content-type": "application/json" };

testWhen(notLinux, "wrong requests get a reason, and the next review is answered", async () => {
  await using server = await WebhookServer.start();
  const cases: readonly (readonly [path: string, init: RequestInit, status: number])[] = [
    ["/inject", { method: "GET" }, 405],
    ["/inject", { method: "POST", body: "{}", headers: { "content-type": "text/plain" } }, 415],
    ["/inject", { method: "POST", headers: JSON_TYPE }, 400],
    ["/inject", { method: "POST", headers: JSON_TYPE, body: "{" }, 200],
    ["/inject", { method: "POST", headers: JSON_TYPE, body: "[".repeat(100_000) }, 200],
    ["/inject", { method: "POST", headers: JSON_TYPE, body: "\xff" }, 200],
    ["/inject", { method: "POST", headers: JSON_TYPE, body: '{"kind":"AdmissionReview"}' }, 200],
    ["/inject", { method: "POST", headers: JSON_TYPE, body: "x".repeat(9 * 1024 * 1024) }, 413],
    ["/injected", { method: "POST", headers: JSON_TYPE, body: "{}" }, 404],
    ["/ready", { method: "GET" }, 200],
    ["/ready", { method: "POST" }, 405],
  ];
  using client = server.client();
  for (const [path, init, status] of cases) {
    const response = await fetch(server.url + path, { client, ...init });
    assert.equal(response.status, status, `${path} ${await response.text()}`);
    const next = await review(server, client, reviewOf("web"));
    assert.match(next.text, /"allowed":true/, `after ${path} ${status}`);
  }
});

testWhen(notLinux, "a pod that cannot be injected is denied with a reason, and the next one is injected", async () => {
  await using server = await WebhookServer.start();
  using client = server.client();
  const poison = reviewOf("poison", { annotations: { "inject.istio.io/templates": "nope" } });
  const { status, text } = await review(server, client, poison);
  assert.equal(status, 200);
  assert.match(text, /"uid":"uid-poison","allowed":false,.*nope/);
  assert.match((await review(server, client, reviewOf("web"))).patch, /config/);
  assert.match(await server.page("/metrics"), /^mesh_webhook_template_errors_total 1$/m);
  assert.match(server.log, /warning webhook: Review of pod "shop\/poison" failed: template-unknown\n/);
  assert.doesNotMatch(server.log, /hunter2|nope/);
});

testWhen(notLinux, "reviews of the largest size that the API server accepts are answered", async () => {
  await using server = await WebhookServer.start();
  using client = server.client();
  const { status, text } = await review(server, client, reviewOf("large", { pad: "x".repeat(5.9 * 1024 * 1024) }));
  assert.deepEqual([status, /"allowed":true/.test(text)], [200, true]);
});

testWhen(
  notLinux,
  "200 reviews at once are answered, each its own pod, while silent and slow clients hold connections",
  async () => {
    await using server = await WebhookServer.start();
    const address = { hostname: "127.0.0.1", port: server.port };
    const silent = await Promise.all(Array.from({ length: 100 }, () => Deno.connect(address)));
    const slow = await Promise.all(Array.from({ length: 20 }, () => slowClient(server)));
    using client = server.client();
    const names = Array.from({ length: 200 }, (_, index) => `web-${index}`);
    const answers = await Promise.all(names.map((name) => review(server, client, reviewOf(name))));
    for (const [index, name] of names.entries()) {
      assert.match(answers[index]?.text ?? "", new RegExp(`"uid":"uid-${name}","allowed":true`));
    }
    for (const each of [...silent, ...slow]) each.close();
  },
);

/** A connection with an unfinished request: headers and the start of a body. */
async function slowClient(server: WebhookServer): Promise<Deno.TlsConn> {
  const { certificate: { authority }, port } = server;
  const connection = await Deno.connectTls({ hostname: "localhost", port, caCerts: [authority] });
  const head = "POST /inject HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nContent-Length: 1000\r\n\r\n{";
  await connection.write(new TextEncoder().encode(head));
  return connection;
}

testWhen(notLinux, "a missing body times out with 408", async () => {
  await using server = await WebhookServer.start();
  using connection = await slowClient(server);
  const answer = new Uint8Array(1000);
  const count = await connection.read(answer);
  assert.match(new TextDecoder().decode(answer.subarray(0, count ?? 0)), /^HTTP\/1\.1 408 /);
});

testWhen(notLinux ?? needsProgram("openssl"), "TLS 1.2 and 1.3 are served, older ones refused", async () => {
  await using server = await WebhookServer.start();
  const shake = async (version: string) => {
    const { code } = await new Deno.Command("openssl", {
      args: ["s_client", `-${version}`, "-cipher", "DEFAULT@SECLEVEL=0", "-connect", `127.0.0.1:${server.port}`],
      stdin: "null",
      stdout: "null",
      stderr: "null",
    }).output();
    return code === 0;
  };
  const versions = ["tls1", "tls1_1", "tls1_2", "tls1_3"];
  assert.deepEqual(await Promise.all(versions.map(shake)), [false, false, true, true]);
});
