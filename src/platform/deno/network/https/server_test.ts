import assert from "node:assert/strict";
import { type TestCertificate, testCertificate } from "../../../../../test/support/tls/certificates.ts";
import { until } from "../../../../../test/support/until.ts";
import { MeshError } from "../../../../base/errors.ts";
import { socketLibc } from "../../../linux/sockets.ts";
import { realFetch } from "../fetch.ts";
import { serveLimited } from "./server.ts";
import type { HttpHandler, TlsServer } from "../../../mod.ts";

// The C library is opened by the first who needs it and stays open, which the sanitizer of a test would call a leak.
if (Deno.build.os === "linux") socketLibc();

const LIMITS = {
  most: 500,
  mostOfAddress: 500,
  newOfAddress: 10_000,
  headBytes: 64 * 1024,
  firstRequest: 10_000,
  silence: 60_000,
};
const [OLD, NEW] = [testCertificate(), testCertificate()];

function serve(handler: HttpHandler, limits = LIMITS): Promise<TlsServer> {
  return serveLimited({ hostname: "127.0.0.1", port: 0, keyPair: OLD, limits }, handler);
}

const echo: HttpHandler = async (request) => new Response(await request.bytes());

/** A client that trusts an authority and keeps connections. */
function clientOf({ authority }: TestCertificate, more: Deno.CreateHttpClientOptions = {}) {
  return Deno.createHttpClient({ caCerts: [authority], ...more });
}

async function ask(client: Deno.HttpClient, port: number, body = "a"): Promise<string> {
  return await (await realFetch(`https://localhost:${port}/`, { client, method: "POST", body })).text();
}

Deno.test("certificates are replaced under load without a failed request", async () => {
  const server = await serve(echo);
  const stop = new AbortController();
  const counts = { kept: 0, fresh: 0 };
  const authority = OLD.authority + NEW.authority;
  const kept = Array.from({ length: 4 }, async () => {
    using client = clientOf({ ...OLD, authority });
    for (; !stop.signal.aborted; counts.kept++) assert.equal(await ask(client, server.port, "kept"), "kept");
  });
  const fresh = Array.from({ length: 4 }, async () => {
    for (; !stop.signal.aborted; counts.fresh++) {
      using client = clientOf({ ...OLD, authority }, { poolMaxIdlePerHost: 0 });
      assert.equal(await ask(client, server.port, "fresh"), "fresh");
    }
  });
  for (let time = 0; time < 10; time++) {
    const seen = counts.fresh;
    await server.replaceCertificate(time % 2 === 0 ? NEW : OLD);
    while (counts.fresh < seen + 8) await new Promise((resolve) => setTimeout(resolve, 5));
  }
  stop.abort();
  await Promise.all([...kept, ...fresh]);
  assert.ok(counts.kept > 0);
  await server.replaceCertificate(NEW);
  using trusting = clientOf(NEW);
  assert.equal(await ask(trusting, server.port), "a");
  using before = clientOf(OLD);
  await assert.rejects(ask(before, server.port), /certificate/);
  await server.close(0);
});

Deno.test("an invalid certificate is an error, and the certificate in use stays", async () => {
  const server = await serve(echo);
  const wrong = [{ certificate: NEW.certificate, key: OLD.key }, { certificate: "none", key: "none" }, {
    certificate: "",
    key: "",
  }];
  for (const pair of wrong) {
    await assert.rejects(
      server.replaceCertificate(pair),
      (error) => error instanceof MeshError && /^Cannot use the certificate and its key: /.test(error.message),
    );
  }
  using client = clientOf(OLD);
  assert.equal(await ask(client, server.port), "a");
  await server.close(0);
});

Deno.test("an address in use causes an error with the address, and everything is closed", async () => {
  using other = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  const options = { hostname: "127.0.0.1", port: other.addr.port, keyPair: OLD, limits: LIMITS };
  await assert.rejects(serveLimited(options, echo), {
    name: "MeshError",
    message: /^Cannot serve on 127\.0\.0\.1:\d+: .*in use/,
  });
});

Deno.test("the handler gets the address of the client", async () => {
  const server = await serve((_request, remote) => new Response(remote));
  using client = clientOf(OLD);
  assert.equal(await ask(client, server.port), "127.0.0.1");
  await server.close(0);
});

Deno.test("close() waits for requests in flight, and returns whether all were answered", async () => {
  for (const milliseconds of [10_000, 0]) {
    const [came, release] = [Promise.withResolvers<void>(), Promise.withResolvers<Response>()];
    const server = await serve(() => {
      came.resolve();
      return release.promise;
    });
    using client = clientOf(OLD);
    const answer = ask(client, server.port).catch((error: Error) => error.name);
    await came.promise;
    const closed = server.close(milliseconds);
    if (milliseconds > 0) release.resolve(new Response("late"));
    assert.equal(await closed, milliseconds > 0);
    assert.equal(await answer, milliseconds > 0 ? "late" : "TypeError");
    release.resolve(new Response());
    await assert.rejects(Deno.connect({ hostname: "127.0.0.1", port: server.port }), Deno.errors.ConnectionRefused);
  }
});

Deno.test("close() in a burst answers every request that comes on open connections", async () => {
  const counts = { came: 0, answered: 0, answeredWhileClosing: 0 };
  const server = await serve((request, remote) => {
    counts.came++;
    return echo(request, remote);
  });
  let isClosing = false;
  const burst = Array.from({ length: 8 }, async () => {
    using client = clientOf(OLD);
    while (counts.answeredWhileClosing < 100) {
      const answer = await ask(client, server.port, "burst").catch((error: unknown) => {
        // A new connection is refused. An idle one may have been closed just before the request.
        assert.ok(isClosing && error instanceof TypeError, String(error));
      });
      if (answer === undefined) return;
      assert.equal(answer, "burst");
      counts.answered++;
      if (isClosing) counts.answeredWhileClosing++;
    }
  });
  await until(() => counts.answered >= 50);
  isClosing = true;
  assert.equal(await server.close(20_000), true);
  await Promise.all(burst);
  assert.equal(counts.answered, counts.came);
  assert.ok(counts.answeredWhileClosing > 0, JSON.stringify(counts));
});

/** What a client reads that sends these bytes at once. */
async function answerTo(connection: Deno.Conn, bytes: string): Promise<string> {
  await connection.write(new TextEncoder().encode(bytes));
  return await new Response(connection.readable).text().catch(() => "");
}

Deno.test("HTTP/2 is not served: neither negotiated, nor to a client that begins with it", async () => {
  const server = await serve(echo);
  const address = { hostname: "localhost", port: server.port, caCerts: [OLD.authority] };
  const preface = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\x04\0\0\0\0\0";
  using both = await Deno.connectTls({ ...address, alpnProtocols: ["h2", "http/1.1"] });
  assert.equal((await both.handshake()).alpnProtocol, "http/1.1");
  using only = await Deno.connectTls({ ...address, alpnProtocols: ["h2"] });
  await assert.rejects(only.handshake());
  assert.equal(await answerTo(await Deno.connectTls(address), preface), "");
  await server.close(0);
  const plain = await serveLimited({ hostname: "127.0.0.1", port: 0, limits: LIMITS }, echo);
  assert.equal(await answerTo(await Deno.connect({ hostname: "127.0.0.1", port: plain.port }), preface), "");
  const post = "POST / HTTP/1.1\r\nhost: a\r\nconnection: close\r\ncontent-length: 1\r\n\r\nb";
  const answer = await answerTo(await Deno.connect({ hostname: "127.0.0.1", port: plain.port }), post);
  assert.match(answer, /^HTTP\/1\.1 200 OK\r\n[^]*\r\n\r\nb$/);
  await plain.close(1000);
});

Deno.test("drain() closes connections of HTTP/1.1 after their response", async () => {
  const server = await serve(echo);
  using client = clientOf(OLD);
  const fields = async () => {
    const response = await fetch(`https://localhost:${server.port}/`, { client });
    await response.body?.cancel();
    return response.headers.get("connection");
  };
  assert.equal(await fields(), null);
  server.drain();
  assert.equal(await fields(), "close");
  await server.close(0);
});

Deno.test("idle connections are closed when new connections arrive", async () => {
  const server = await serve(echo, { ...LIMITS, most: 20 });
  const silent = await Promise.all(
    Array.from({ length: 60 }, () => Deno.connect({ hostname: "127.0.0.1", port: server.port })),
  );
  using client = clientOf(OLD);
  assert.equal(await ask(client, server.port), "a");
  const ends = silent.slice(0, 30).map(async (connection) =>
    await connection.read(new Uint8Array(1)).catch(() => null)
  );
  assert.deepEqual(new Set(await Promise.all(ends)), new Set([null]));
  silent.forEach((connection) => connection.close());
  await server.close(0);
});

Deno.test("a connection without a request in time is closed", async () => {
  const server = await serve(echo, { ...LIMITS, firstRequest: 50 });
  using connection = await Deno.connect({ hostname: "127.0.0.1", port: server.port });
  await connection.write(Uint8Array.of(22));
  assert.equal(await connection.read(new Uint8Array(1)).catch(() => null), null);
  await server.close(0);
});

Deno.test("a connection that sends too much before its first request is closed", async () => {
  const limits = { ...LIMITS, headBytes: 1000 };
  const server = await serveLimited({ hostname: "127.0.0.1", port: 0, limits }, () => new Response());
  using connection = await Deno.connect({ hostname: "127.0.0.1", port: server.port });
  await connection.write(new TextEncoder().encode(`GET / HTTP/1.1\r\nX: ${"a".repeat(2000)}`));
  assert.equal(await connection.read(new Uint8Array(1)).catch(() => null), null);
  await server.close(1000);
});

Deno.test("plain HTTP has the same limits, and the loopback port does not bypass the limits", async () => {
  const server = await serveLimited(
    { hostname: "127.0.0.1", port: 0, limits: { ...LIMITS, most: 2 } },
    () => new Response("fine"),
  );
  const silent = await Promise.all([1, 2, 3].map(() => Deno.connect({ hostname: "127.0.0.1", port: server.port })));
  assert.equal(await (await fetch(`http://127.0.0.1:${server.port}/`)).text(), "fine");
  assert.equal(await silent[0]?.read(new Uint8Array(1)).catch(() => null), null);
  silent.forEach((connection) => connection.close());
  await server.close(1000);
});

Deno.test("a connection whose client waits for an answer is not closed for others", async () => {
  const answer = Promise.withResolvers<Response>();
  const came = Promise.withResolvers<void>();
  const server = await serve((_request, _remote, exchange) => {
    exchange?.arrived();
    came.resolve();
    return answer.promise;
  }, { ...LIMITS, most: 3 });
  using client = clientOf(OLD);
  const waiting = ask(client, server.port);
  await came.promise;
  const others = await Promise.all(
    Array.from({ length: 20 }, () => Deno.connect({ hostname: "127.0.0.1", port: server.port })),
  );
  answer.resolve(new Response("answered"));
  assert.equal(await waiting, "answered");
  others.forEach((connection) => connection.close());
  await server.close(0);
});
