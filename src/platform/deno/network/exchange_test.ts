import assert from "node:assert/strict";
import { CERTIFICATE, KEY, tlsInFrontOf } from "../../../../test/support/tls/self_signed.ts";
import { testWhen } from "../../../../test/support/test_when.ts";
import { type Exchange, realWorld } from "../../mod.ts";

const world = realWorld();
const { network } = world;
const notLinux = Deno.build.os === "linux" ? undefined : "not Linux";

// The C library is opened by the first who needs it and stays open, which the sanitizer of a test would call a leak.
if (notLinux === undefined) world.system.interfaceIndex("lo");

/** What a server saw of a request, as the body of its answer. */
interface Seen {
  readonly from: string;
  readonly url: string;
  readonly headers: Record<string, string>;
}

function echo() {
  const server = Deno.serve({ hostname: "127.0.0.1", port: 0, onListen() {} }, (request, { remoteAddr }) => {
    const headers = Object.fromEntries(request.headers);
    const status = Number(new URL(request.url).searchParams.get("status") ?? 200);
    const seen: Seen = { from: remoteAddr.hostname, url: request.url, headers };
    return new Response(JSON.stringify(seen), { status, headers: { location: "/next" } });
  });
  return server;
}

function exchange(url: string, more: Partial<Exchange> = {}) {
  return network.exchange({
    method: "GET",
    url,
    headers: new Headers(),
    protocol: "negotiated",
    maxBodyBytes: 10_000,
    signal: AbortSignal.timeout(10_000),
    ...more,
  });
}

function seenBy({ body }: { readonly body: Uint8Array }): Seen {
  return JSON.parse(new TextDecoder().decode(body));
}

testWhen(notLinux, "exchange() connects from the source, sends the given host, and follows no redirect", async () => {
  await using server = echo();
  const headers = new Headers({ host: "app.example:81", "x-a": "1" });
  const source = "127.0.0.6";
  const answer = await exchange(`http://127.0.0.1:${server.addr.port}/a?status=302`, { headers, source });
  assert.equal(answer.status, 302);
  assert.equal(answer.headers.get("location"), "/next");
  const seen = seenBy(answer);
  assert.equal(seen.from, "127.0.0.6");
  assert.equal(seen.url, "http://app.example:81/a?status=302");
  assert.equal(seen.headers["x-a"], "1");
});

const HANDSHAKES = [
  { name: "a server without protocols", offers: undefined, protocol: "negotiated", http: "1.1" },
  { name: "a server with both", offers: ["h2", "http/1.1"], protocol: "negotiated", http: "2" },
  { name: "a server with HTTP/2 alone", offers: ["h2"], protocol: "negotiated", http: "2" },
  { name: "a server with HTTP/1.1 alone", offers: ["http/1.1"], protocol: "negotiated", http: "1.1" },
  { name: "a server with both, HTTP/1.1 wanted", offers: ["h2", "http/1.1"], protocol: "http/1.1", http: "1.1" },
] as const;

testWhen(notLinux, "exchange() uses no proxy of the environment", async () => {
  await using server = echo();
  await using tls = tlsInFrontOf(server.addr.port, ["h2"]);
  Deno.env.set("HTTP_PROXY", "http://127.0.0.1:1");
  try {
    const headers = new Headers({ host: "app.example:81" });
    for (const url of [`http://127.0.0.1:${server.addr.port}/`, `https://127.0.0.1:${tls.port}/`]) {
      assert.equal(seenBy(await exchange(url, { headers })).url, "http://app.example:81/");
    }
  } finally {
    Deno.env.delete("HTTP_PROXY");
  }
});

for (const { name, offers, protocol, http } of HANDSHAKES) {
  testWhen(notLinux, `exchange() over unverified TLS: ${name}`, async () => {
    await using server = echo();
    await using tls = tlsInFrontOf(server.addr.port, offers);
    const headers = new Headers({ host: "app.example:81", connection: "close" });
    const source = "127.0.0.6";
    const answer = await exchange(`https://127.0.0.1:${tls.port}/b`, { headers, protocol, source });
    assert.equal(answer.status, 200);
    const seen = seenBy(answer);
    assert.equal(seen.url, "http://app.example:81/b");
    assert.equal(seen.headers["connection"], http === "2" ? undefined : "close");
  });
}

Deno.test("exchange() over TLS sends the request in origin form", async () => {
  using listener = Deno.listenTls({ hostname: "127.0.0.1", port: 0, cert: CERTIFICATE, key: KEY });
  const asked = (async () => {
    using connection = await listener.accept();
    const buffer = new Uint8Array(4096);
    const text = new TextDecoder().decode(buffer.subarray(0, await connection.read(buffer) ?? 0));
    await connection.write(
      new TextEncoder().encode("HTTP/1.1 200 OK\r\ncontent-length: 0\r\nconnection: close\r\n\r\n"),
    );
    return text;
  })();
  const { port } = listener.addr;
  assert.equal((await exchange(`https://127.0.0.1:${port}/a?b=c`)).status, 200);
  const text = await asked;
  assert.match(text, /^GET \/a\?b=c HTTP\/1\.1\r\n/);
  assert.match(text, new RegExp(`\r\nhost: 127\\.0\\.0\\.1:${port}\r\n`, "i"));
});

Deno.test("exchange() over TLS fails without a common protocol, and if nothing listens", async () => {
  await using server = echo();
  await using tls = tlsInFrontOf(server.addr.port, ["foo"]);
  await assert.rejects(exchange(`https://127.0.0.1:${tls.port}/`), /supports none of the offered protocols/);
  await assert.rejects(exchange("https://127.0.0.1:1/"));
});

Deno.test("exchange() reads at most maxBodyBytes, also of an endless body", async () => {
  await using server = Deno.serve({ hostname: "127.0.0.1", port: 0, onListen() {} }, () => {
    return new Response(
      new ReadableStream({ pull: (controller) => controller.enqueue(new Uint8Array(5000).fill(65)) }),
    );
  });
  const answer = await exchange(`http://127.0.0.1:${server.addr.port}/`, { maxBodyBytes: 10_240 });
  assert.equal(answer.status, 200);
  assert.equal(answer.body.length, 10_240);
});

Deno.test("exchange() returns a partial body when the signal fires, and rejects without a response", async () => {
  await using server = Deno.serve({ hostname: "127.0.0.1", port: 0, onListen() {} }, (request) => {
    const gone = Promise.withResolvers<Response>();
    request.signal.addEventListener("abort", () => gone.resolve(new Response()));
    if (request.url.endsWith("/hang")) return gone.promise;
    return new Response(new ReadableStream({ start: (controller) => controller.enqueue(new Uint8Array([65])) }));
  });
  const origin = `http://127.0.0.1:${server.addr.port}`;
  const end = new AbortController();
  setTimeout(() => end.abort(), 300);
  const answer = await exchange(`${origin}/part`, { signal: end.signal });
  assert.deepEqual([answer.status, [...answer.body]], [200, [65]]);
  await assert.rejects(exchange(`${origin}/hang`, { signal: AbortSignal.timeout(100) }));
});
