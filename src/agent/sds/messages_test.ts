import assert from "node:assert/strict";
import { fc } from "../../../test/support/properties.ts";
import { asked } from "../../../test/support/agent/sds_client.ts";
import { joinBytes } from "../../base/bytes.ts";
import { MeshError } from "../../base/errors.ts";
import { discoveryResponse, readDiscoveryRequest } from "./messages.ts";

Deno.test("readDiscoveryRequest(): the fields of a request; others are skipped", () => {
  const known = asked({ names: ["a", "b"], version: "1", nonce: "n", type: "t", refusal: "no" });
  // Fields 100 to 103: a number, 8 bytes, a text, 4 bytes.
  const unknown = Uint8Array.of(0xa0, 6, 1, 0xa9, 6, 1, 2, 3, 4, 5, 6, 7, 8, 0xb2, 6, 1, 65, 0xbd, 6, 1, 2, 3, 4);
  assert.deepEqual(readDiscoveryRequest(joinBytes([known, unknown])), {
    resourceNames: ["a", "b"],
    typeUrl: "t",
    responseNonce: "n",
    refusal: "no",
  });
});

Deno.test("readDiscoveryRequest(): a NACK without a reason is a NACK", () => {
  assert.equal(readDiscoveryRequest(asked({ refusal: "" })).refusal, "");
  assert.equal(readDiscoveryRequest(new Uint8Array()).refusal, undefined);
});

Deno.test("readDiscoveryRequest(): any bytes are a request or a MeshError", () => {
  const good = asked({ names: ["a"], refusal: "no" });
  const cut = fc.nat(good.length).map((length) => good.slice(0, length));
  fc.assert(fc.property(fc.oneof(fc.uint8Array({ maxLength: 60 }), cut), (bytes) => {
    try {
      assert.equal(typeof readDiscoveryRequest(bytes).typeUrl, "string");
    } catch (error) {
      assert.ok(error instanceof MeshError, String(error));
    }
  }));
});

Deno.test("discoveryResponse(): a secret has the bytes of Envoy's messages", () => {
  const secrets = new Map([["d", { kind: "pair", certificate: "c", key: "k" } as const]]);
  const bytes = new TextDecoder().decode(discoveryResponse({ version: "v", nonce: "n", secrets }));
  const type = "type.googleapis.com/envoy.extensions.transport_sockets.tls.v3.Secret";
  const source = (number: number, text: string) => `${String.fromCharCode(number << 3 | 2)}\x03\x12\x01${text}`;
  const secret = `\x0a\x01d\x12\x0a${source(1, "c")}${source(2, "k")}`;
  const any = `\x0a${String.fromCharCode(type.length)}${type}\x12\x0f${secret}`;
  assert.equal(bytes, `\x0a\x01v\x12${String.fromCharCode(any.length)}${any}\x22\x44${type}\x2a\x01n`);
});
