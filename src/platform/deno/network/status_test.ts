import assert from "node:assert/strict";
import { testWhen } from "../../../../test/support/test_when.ts";
import { realFetch } from "./fetch.ts";
import { statusOf } from "./status.ts";

/** Milliseconds: no answer comes within the one, each one within the other. */
const SHORT = 100;
const LONG = 60_000;

/** Asks a server that sends these bytes to each connection, and then closes it or waits for its end; returns what it was asked. */
async function ask(sent: string, { ends = "closes" }: { readonly ends?: "closes" | "waits" } = {}) {
  const listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  const { port } = listener.addr;
  const requests: string[] = [];
  const served = (async () => {
    for await (const connection of listener) {
      const bytes = new Uint8Array(4096);
      requests.push(new TextDecoder().decode(bytes.subarray(0, await connection.read(bytes) ?? 0)));
      await connection.write(new TextEncoder().encode(sent.replaceAll("PORT", String(port))));
      if (ends === "waits") await connection.read(bytes).catch(() => {});
      connection.close();
    }
  })();
  try {
    const result = await statusOf(`http://127.0.0.1:${port}/ready?a=b`, ends === "waits" ? SHORT : LONG, realFetch)
      .catch((error: Error) => error.name);
    return { result, requests };
  } finally {
    listener.close();
    await served;
  }
}

const OWN: readonly (readonly [string, number])[] = [
  ["HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n", 200],
  ["HTTP/1.1 200\r\nContent-Length: 5\r\n\r\nready", 200],
  ["HTTP/1.0 503 Service Unavailable\r\n\r\n", 503],
  ["HTTP/1.1 404 Not Found\r\n\r\n", 404],
];

for (const [sent, status] of OWN) {
  Deno.test(`statusOf: ${JSON.stringify(sent)} is ${status}, asked once`, async () => {
    const { result, requests } = await ask(sent);
    assert.equal(result, status);
    assert.equal(requests.length, 1);
    assert.match(requests[0] ?? "", /^GET \/ready\?a=b HTTP\/1\.1\r\nHost: 127\.0\.0\.1:\d+\r\n/);
  });
}

Deno.test("statusOf: fetch follows a redirect, skips a provisional answer, and names what is no HTTP", async () => {
  const redirect = await ask(
    "HTTP/1.1 302 Found\r\nLocation: http://127.0.0.1:PORT/ready?a=b\r\nContent-Length: 0\r\n\r\n",
  );
  assert.ok(redirect.requests.length > 2, "the redirect leads to itself");
  const provisional = await ask("HTTP/1.1 103 Early Hints\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n");
  assert.equal(provisional.result, 200);
  for (const sent of ["", "SSH-2.0-x\r\n", "HTTP/1.1 2000 x\r\n\r\n", "x".repeat(5000)]) {
    assert.equal((await ask(sent)).result, "TypeError");
  }
});

Deno.test("statusOf: the limit ends a request without an answer, and its connection", async () => {
  for (const sent of ["", "HTTP/1.1 2"]) {
    assert.equal((await ask(sent, { ends: "waits" })).result, "TimeoutError");
  }
});

Deno.test("statusOf: a port that nobody listens on is refused", async () => {
  const listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  const { port } = listener.addr;
  listener.close();
  for (const host of ["localhost", "127.0.0.1"]) {
    await assert.rejects(statusOf(`http://${host}:${port}/`, LONG, realFetch), Deno.errors.ConnectionRefused);
  }
});

const never = () => Promise.reject(new Error("fetch is not needed"));
const serve = (hostname: string, port: number) =>
  Deno.serve({ hostname, port, onListen() {} }, () => new Response(null, { status: 204 }));

Deno.test("statusOf: localhost is 127.0.0.1", async () => {
  const server = serve("127.0.0.1", 0);
  assert.equal(await statusOf(`http://localhost:${server.addr.port}`, LONG, never), 204);
  await server.shutdown();
});

const hasIpv6 = Deno.networkInterfaces().some(({ address }) => address === "::1");

testWhen(hasIpv6 ? undefined : "this machine has no ::1", "statusOf: localhost is ::1 too", async () => {
  // A port that no other test has on 127.0.0.1.
  const holder = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  const { port } = holder.addr;
  const server = serve("::1", port);
  holder.close();
  assert.equal(await statusOf(`http://localhost:${port}`, LONG, never), 204);
  await server.shutdown();
});
