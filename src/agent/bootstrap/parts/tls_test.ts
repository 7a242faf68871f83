import assert from "node:assert/strict";
import type { ValueMap } from "../../../base/value.ts";
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

Deno.test("tlsSocket: undefined without TLS settings", () => {
  const peer = { sni: "", isHttp2: true, metadata: {} };
  for (const tls of [undefined, {}, { mode: "DISABLE" }]) assert.equal(tlsSocket(tls, peer), undefined);
});

Deno.test("tlsSocket: file secrets by name; metadata wins", () => {
  const files = { caCertificates: "/ca", clientCertificate: "/c", privateKey: "/k" };
  assert.deepEqual(secrets({ mode: "SIMPLE", ...files, subjectAltNames: ["a"] }), ["a", "file-root:/ca"]);
  assert.deepEqual(secrets({ mode: "MUTUAL", ...files }), ["file-cert:/c~/k", "file-root:/ca"]);
  const metadata = { TLS_CLIENT_ROOT_CERT: "/mr", TLS_CLIENT_CERT_CHAIN: "/mc", TLS_CLIENT_KEY: "/mk" };
  assert.deepEqual(secrets({ mode: "MUTUAL", ...files }, metadata), ["file-cert:/mc~/mk", "file-root:/mr"]);
});

Deno.test("tlsSocket: without a CA file the system's roots apply, unless verification is off", () => {
  assert.deepEqual(secrets({ mode: "SIMPLE" }), ["file-root:system"]);
  assert.deepEqual(secrets({ mode: "SIMPLE", insecureSkipVerify: true }), []);
});

Deno.test("tlsSocket: ISTIO_MUTUAL uses the mesh's secrets and waits for them", () => {
  const tls = context({ mode: "ISTIO_MUTUAL" });
  assert.deepEqual(secrets({ mode: "ISTIO_MUTUAL" }), ["default", "ROOTCA"]);
  assert.equal(JSON.stringify(tls).match(/"initial_fetch_timeout":"0s"/g)?.length, 2);
  assert.equal(tls["sni"], "tracer");
  assert.equal(context({ mode: "ISTIO_MUTUAL", sni: "s" })["sni"], "s");
});

Deno.test("tlsSocket: HTTP/2 in ALPN for HTTP/2 peers", () => {
  assert.deepEqual(context({ mode: "SIMPLE" })["alpn_protocols"], ["h2"]);
  assert.deepEqual(context({ mode: "ISTIO_MUTUAL" })["alpn_protocols"], ["istio", "h2"]);
  assert.equal(context({ mode: "SIMPLE" }, false)["alpn_protocols"], undefined);
  assert.equal(context({ mode: "SIMPLE" })["sni"], undefined);
});
