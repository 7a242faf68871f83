import assert from "node:assert/strict";
import { testCertificate } from "../../../../test/support/tls/certificates.ts";
import { temporaryFolder } from "../../../../test/support/temporary_folder.ts";
import { CERTIFICATE, KEY } from "../../../../test/support/tls/self_signed.ts";
import { realNetwork } from "./network.ts";

/** A server whose certificate nobody signed, and clients of it that end with it. */
async function withServer(body: (server: string) => Promise<void>) {
  const listening = Promise.withResolvers<number>();
  const server = Deno.serve(
    { hostname: "127.0.0.1", port: 0, cert: CERTIFICATE, key: KEY, onListen: ({ port }) => listening.resolve(port) },
    (request) => new Response(`${request.method} ${new URL(request.url).pathname}`),
  );
  try {
    await body(`https://127.0.0.1:${await listening.promise}`);
  } finally {
    await server.shutdown();
  }
}

const soon = () => ({ signal: AbortSignal.timeout(20_000) });

Deno.test("client() without verification sends several requests", () =>
  withServer(async (server) => {
    const client = await realNetwork.client({ server, insecure: true });
    for (const path of ["/a", "/b"]) {
      const answer = await client.request(path, { method: "PUT", body: "x", ...soon() });
      assert.equal(await answer.text(), `PUT ${path}`);
    }
    client.close();
  }));

Deno.test("client() without verification streams large bodies both ways, and sends requests in origin form", async () => {
  const large = new Uint8Array(3_000_000).map((_, at) => at % 251);
  let connections = 0;
  using listener = Deno.listenTls({ hostname: "127.0.0.1", port: 0, cert: CERTIFICATE, key: KEY });
  const served = (async () => {
    for await (const connection of listener) {
      connections++;
      await answerOnce(connection, large);
    }
  })();
  const client = await realNetwork.client({ server: `https://127.0.0.1:${listener.addr.port}`, insecure: true });
  const all = await Promise.all([1, 2, 3].map(async (n) => {
    const answer = await client.request(`/${n}`, { method: "POST", body: large, ...soon() });
    assert.equal(answer.headers.get("first-line"), `POST /${n} HTTP/1.1`);
    return await answer.bytes();
  }));
  for (const bytes of all) assert.deepEqual(bytes, large);
  assert.equal(connections, 3);
  client.close();
  listener.close();
  await served.catch(() => {});
});

/** Reads a request with a body of that size, sends it back, and closes the connection. */
async function answerOnce(connection: Deno.TlsConn, body: Uint8Array): Promise<void> {
  const buffer = new Uint8Array(64 * 1024);
  let text = "";
  for (let read = 0; read < body.length;) {
    const count = await connection.read(buffer) ?? assert.fail("the request was cut off");
    const end = text.indexOf("\r\n\r\n");
    if (end >= 0) {
      read += count;
      continue;
    }
    text += new TextDecoder("latin1").decode(buffer.subarray(0, count));
    const head = text.indexOf("\r\n\r\n");
    if (head >= 0) read = text.length - head - 4;
  }
  const [line] = text.split("\r\n", 1);
  const head = `HTTP/1.1 200 OK\r\nfirst-line: ${line}\r\ncontent-length: ${body.length}\r\nconnection: close\r\n\r\n`;
  for (const part of [new TextEncoder().encode(head), body]) {
    for (let sent = 0; sent < part.length;) sent += await connection.write(part.subarray(sent));
  }
  connection.close();
}

Deno.test("client() without verification reuses its connection, and leaves no socket in the temporary folder", async () => {
  await using folder = await temporaryFolder();
  const before = Deno.env.get("TMPDIR");
  Deno.env.set("TMPDIR", folder.path);
  const ports = new Set<number>();
  const server = Deno.serve(
    { hostname: "127.0.0.1", port: 0, cert: CERTIFICATE, key: KEY, onListen() {} },
    (_, { remoteAddr }) => new Response(String("port" in remoteAddr && ports.add(remoteAddr.port))),
  );
  try {
    const client = await realNetwork.client({ server: `https://127.0.0.1:${server.addr.port}`, insecure: true });
    for (const path of ["/a", "/b", "/c"]) {
      const answer = await client.request(path, soon());
      assert.deepEqual(await Array.fromAsync(Deno.readDir(folder.path)), []);
      await answer.text();
      // The runtime needs a moment to take the connection back.
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
    assert.equal(ports.size, 1);
    client.close();
  } finally {
    if (before === undefined) Deno.env.delete("TMPDIR");
    else Deno.env.set("TMPDIR", before);
    await server.shutdown();
  }
});

Deno.test("client() ends a request when the signal fires, also while it connects, and rejects after close()", async () => {
  const silent = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  const client = await realNetwork.client({ server: `https://127.0.0.1:${silent.addr.port}`, insecure: true });
  const taken = silent.accept();
  await assert.rejects(client.request("/", { signal: AbortSignal.timeout(200) }), { name: "TimeoutError" });
  silent.close();
  client.close();
  await assert.rejects(client.request("/", soon()));
  // The handshake that was given up fails at the end of the connection, and closes it.
  using connection = await taken;
  await connection.closeWrite();
  const bytes = new Uint8Array(4096);
  while (await connection.read(bytes) !== null);
});

Deno.test("client() reports why the server is not trusted, with and without a server name", () =>
  withServer(async (server) => {
    for (const options of [{}, { serverName: "other.test", authorities: CERTIFICATE }]) {
      const client = await realNetwork.client({ server, ...options });
      await assert.rejects(client.request("/", soon()), /certificate/);
      client.close();
    }
  }));

Deno.test("client() reports a refused connection, also without verification", async () => {
  const listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  const server = `https://127.0.0.1:${listener.addr.port}`;
  listener.close();
  for (const insecure of [true, false]) {
    const client = await realNetwork.client({ server, insecure });
    await assert.rejects(client.request("/", soon()), /refused/i);
    client.close();
  }
});

Deno.test("client() rejects an invalid key pair", async () => {
  const identity = { certificate: "none", key: "none" };
  await assert.rejects(realNetwork.client({ server: "https://127.0.0.1:1", identity }), {
    name: "MeshError",
    message: /^The certificates for "https:\/\/127\.0\.0\.1:1" cannot be used: /,
  });
});

Deno.test("client() rejects a key that does not fit the certificate, for which Deno would end the process", async () => {
  const identity = { certificate: CERTIFICATE, key: testCertificate().key };
  await assert.rejects(realNetwork.client({ server: "https://127.0.0.1:1", identity }), {
    name: "MeshError",
    message: /cannot be used: the key does not belong to the certificate$/,
  });
});
