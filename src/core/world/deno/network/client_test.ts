import assert from "node:assert/strict";
import { testCertificate } from "../../../../../test/support/tls/certificates.ts";
import { CERTIFICATE, KEY } from "../../../../../test/support/tls/self_signed.ts";
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

Deno.test("client() without verification gets answers, again and again", () =>
  withServer(async (server) => {
    const client = await realNetwork.client({ server, insecure: true });
    for (const path of ["/a", "/b"]) {
      const answer = await client.request(path, { method: "PUT", body: "x", ...soon() });
      assert.equal(await answer.text(), `PUT ${path}`);
    }
    client.close();
  }));

Deno.test("client() says why the server is not trusted, with and without a name of its own", () =>
  withServer(async (server) => {
    for (const options of [{}, { serverName: "other.test", authorities: CERTIFICATE }]) {
      const client = await realNetwork.client({ server, ...options });
      await assert.rejects(client.request("/", soon()), /certificate/);
      client.close();
    }
  }));

Deno.test("client() tells what a refused connection is, also over a bridge", async () => {
  const listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  const server = `https://127.0.0.1:${listener.addr.port}`;
  listener.close();
  for (const insecure of [true, false]) {
    const client = await realNetwork.client({ server, insecure });
    await assert.rejects(client.request("/", soon()), /refused/i);
    client.close();
  }
});

Deno.test("client() refuses an identity that is none", async () => {
  const identity = { certificate: "none", key: "none" };
  await assert.rejects(realNetwork.client({ server: "https://127.0.0.1:1", identity }), {
    name: "MeshError",
    message: /^The certificates for "https:\/\/127\.0\.0\.1:1" cannot be used: /,
  });
});

Deno.test("client() refuses a key that is not that of the certificate, which Deno would end the process for", async () => {
  const identity = { certificate: CERTIFICATE, key: testCertificate().key };
  await assert.rejects(realNetwork.client({ server: "https://127.0.0.1:1", identity }), {
    name: "MeshError",
    message: /cannot be used: the key is not that of the certificate$/,
  });
});
