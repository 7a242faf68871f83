import assert from "node:assert/strict";
import type { ValueMap } from "../../../core/value.ts";
import { tlsSocket } from "./tls.ts";

function context(tls: ValueMap | undefined, isHttp2 = true, metadata: ValueMap = {}): Record<string, unknown> {
  const { typed_config } = tlsSocket(tls, { sni: "tracer", isHttp2, metadata }) ?? {};
  return { ...typed_config?.common_tls_context, sni: typed_config?.sni };
}

/** The names of the secrets, and the names that the peer may have. */
function secrets(tls: ValueMap, metadata: ValueMap = {}): string[] {
  const text = JSON.stringify(context(tls, true, metadata));
  return [...text.matchAll(/"(?:name|exact)":"([^"]*)"/g)].map(([, name = ""]) => name);
}

Deno.test("tlsSocket: none where none is asked for", () => {
  const peer = { sni: "", isHttp2: true, metadata: {} };
  for (const tls of [undefined, {}, { mode: "DISABLE" }]) assert.equal(tlsSocket(tls, peer), undefined);
});

Deno.test("tlsSocket: files have secrets by their names; those of the metadata go before", () => {
  const files = { caCertificates: "/ca", clientCertificate: "/c", privateKey: "/k" };
  assert.deepEqual(secrets({ mode: "SIMPLE", ...files, subjectAltNames: ["a"] }), ["a", "file-root:/ca"]);
  assert.deepEqual(secrets({ mode: "MUTUAL", ...files }), ["file-cert:/c~/k", "file-root:/ca"]);
  const metadata = { TLS_CLIENT_ROOT_CERT: "/mr", TLS_CLIENT_CERT_CHAIN: "/mc", TLS_CLIENT_KEY: "/mk" };
  assert.deepEqual(secrets({ mode: "MUTUAL", ...files }, metadata), ["file-cert:/mc~/mk", "file-root:/mr"]);
});

Deno.test("tlsSocket: a peer that is not told proves itself to the system's roots, unless it need not", () => {
  assert.deepEqual(secrets({ mode: "SIMPLE" }), ["file-root:system"]);
  assert.deepEqual(secrets({ mode: "SIMPLE", insecureSkipVerify: true }), []);
});

Deno.test("tlsSocket: the mesh's own certificates, waited for", () => {
  const tls = context({ mode: "ISTIO_MUTUAL" });
  assert.deepEqual(secrets({ mode: "ISTIO_MUTUAL" }), ["default", "ROOTCA"]);
  assert.equal(JSON.stringify(tls).match(/"initial_fetch_timeout":"0s"/g)?.length, 2);
  assert.equal(tls["sni"], "tracer");
  assert.equal(context({ mode: "ISTIO_MUTUAL", sni: "s" })["sni"], "s");
});

Deno.test("tlsSocket: HTTP/2 is offered to peers that speak it", () => {
  assert.deepEqual(context({ mode: "SIMPLE" })["alpn_protocols"], ["h2"]);
  assert.deepEqual(context({ mode: "ISTIO_MUTUAL" })["alpn_protocols"], ["istio", "h2"]);
  assert.equal(context({ mode: "SIMPLE" }, false)["alpn_protocols"], undefined);
  assert.equal(context({ mode: "SIMPLE" })["sni"], undefined);
});
