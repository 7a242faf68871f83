import assert from "node:assert/strict";
import { Buffer } from "node:buffer";
import { gunzipSync, zstdDecompressSync } from "node:zlib";
import { serve, statusServer } from "../../../test/support/agent/status.ts";
import { preferredEncoding } from "./compress.ts";

const LARGE = "# TYPE my_metric counter\nmy_metric{} 0\n".repeat(300_000);

/** Istio's TestHTTPCompressionOnStats and more. */
const CASES = [
  { accept: "", encoding: undefined },
  { accept: "gzip", encoding: "gzip" },
  { accept: "zstd", encoding: "zstd" },
  { accept: "gzip, zstd", encoding: "zstd" },
  { accept: "deflate, gzip;q=1.0, zstd;q=0.5", encoding: "gzip" },
  { accept: "br, lz4", encoding: undefined },
  { accept: "GZIP;Q=0.5", encoding: "gzip" },
  { accept: "gzip;q=0, *;q=0.1", encoding: "zstd" },
  { accept: "*", encoding: "zstd" },
  { accept: "gzip;q=0", encoding: undefined },
  { accept: "gzip;q=x", encoding: undefined },
] as const;

for (const { accept, encoding } of CASES) {
  Deno.test(`preferredEncoding(): "${accept}"`, () => assert.equal(preferredEncoding(accept), encoding));
}

/** An answer with its bytes as they were sent, which `fetch` would decode. */
async function raw(port: number, path: string, accept: string) {
  using connection = await Deno.connect({ hostname: "127.0.0.1", port });
  const field = accept === "" ? "" : `Accept-Encoding: ${accept}\r\n`;
  const text = `GET ${path} HTTP/1.0\r\nHost: x\r\n${field}\r\n`;
  await connection.write(new TextEncoder().encode(text));
  const bytes = Buffer.from(await new Response(connection.readable).arrayBuffer());
  const end = bytes.indexOf("\r\n\r\n");
  const head = bytes.subarray(0, end).toString();
  return { encoding: /^content-encoding: (.*)$/mi.exec(head)?.[1], head, body: bytes.subarray(end + 4) };
}

const DECODERS: Readonly<Record<string, (bytes: Uint8Array) => Uint8Array>> = {
  gzip: (bytes) => gunzipSync(bytes),
  zstd: (bytes) => zstdDecompressSync(bytes),
  none: (bytes) => bytes,
};

for (const { accept, encoding } of CASES.slice(0, 6)) {
  Deno.test(`metrics of 10 MB are compressed for "${accept}"`, async () => {
    await using envoy = serve(() => new Response(LARGE));
    const metricsPort = envoy.addr.port;
    await using status = await statusServer({ envoy: { adminHost: "127.0.0.1", adminPort: 1, metricsPort } });
    const answer = await raw(status.server.port ?? 0, "/stats/prometheus", accept);
    assert.equal(answer.encoding, encoding);
    assert.match(answer.head, /^vary: Accept-Encoding$/mi);
    const text = new TextDecoder().decode(DECODERS[encoding ?? "none"]?.(answer.body));
    assert.equal(text.length - text.indexOf(LARGE), LARGE.length);
  });
}

Deno.test("small responses are not compressed", async () => {
  await using status = await statusServer();
  const answer = await raw(status.server.port ?? 0, "/nothing", "gzip, br, zstd");
  assert.equal(answer.encoding, undefined);
  assert.equal(answer.body.toString(), "404 page not found\n");
});
