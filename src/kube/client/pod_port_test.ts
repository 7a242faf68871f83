import assert from "node:assert/strict";
import { fakeWorld, type FakeWorldOptions } from "../../../test/support/fake_world.ts";
import { connect } from "./mod.ts";

const REQUEST = { namespace: "istio-system", pod: "ztunnel-1", port: 15000, path: "/config_dump", timeout: 5000 };
const PORT = String.fromCharCode(15000 & 0xff, 15000 >> 8);

/** A world whose API server forwards a port that sends these messages. */
async function apiOf(messages: readonly (readonly [stream: number, text: string])[], more: FakeWorldOptions = {}) {
  const sent: Uint8Array[] = [];
  const asked: string[] = [];
  const webSocket = (url: string) => {
    asked.push(url);
    return Promise.resolve({
      protocol: "v4.channel.k8s.io",
      messages: ReadableStream.from(
        messages.map(([stream, text]) => new Uint8Array([stream, ...[...text].map((each) => each.charCodeAt(0))])),
      ),
      send: (bytes: Uint8Array) => void sent.push(bytes),
      close: () => {},
    });
  };
  const api = await connect(fakeWorld({ webSocket, ...more }), { server: "https://api.test" });
  return { api, sent, asked };
}

Deno.test("the body of an answer over several messages; the request is HTTP/1.0", async () => {
  const { api, sent, asked } = await apiOf([[0, PORT], [1, PORT], [0, "HTTP/1.1 200 OK\r\nA: b\r\n"], [
    0,
    '\r\n{"a":1}',
  ]]);
  const body = await api.getFromPort({ ...REQUEST, maxBytes: 1000 });
  assert.equal(new TextDecoder().decode(body), '{"a":1}');
  assert.deepEqual(asked, ["https://api.test/api/v1/namespaces/istio-system/pods/ztunnel-1/portforward?ports=15000"]);
  const [first = new Uint8Array()] = sent;
  assert.equal(first[0], 0);
  assert.match(new TextDecoder().decode(first.subarray(1)), /^GET \/config_dump HTTP\/1\.0\r\n.*\r\n\r\n$/s);
});

const ENDS: Readonly<Record<string, readonly [messages: readonly (readonly [number, string])[], message: RegExp]>> = {
  "nothing listens": [
    [[0, PORT], [1, `${PORT}dial tcp: refused`]],
    /No answer from port 15000 .*: dial tcp: refused/,
  ],
  "another status": [[[0, `${PORT}HTTP/1.1 404 Not Found\r\n\r\n`]], /status 404/],
  "no HTTP": [[[0, `${PORT}hello`]], /not HTTP/],
  "an end without an answer": [[], /not HTTP/],
  "too many messages without a byte": [Array.from({ length: 20 }, () => [0, ""] as const), /longer than 1000 bytes/],
  "too long": [[[0, `${PORT}${"x".repeat(2000)}`]], /longer than 1000 bytes/],
};

for (const [name, [messages, message]] of Object.entries(ENDS)) {
  Deno.test(`getFromPort() rejects: ${name}`, async () => {
    const { api } = await apiOf(messages);
    await assert.rejects(api.getFromPort({ ...REQUEST, maxBytes: 1000 }), { name: "ApiError", message });
  });
}

Deno.test("getFromPort() rejects with a reason if the connection breaks", async () => {
  const error = new TypeError("Broken pipe (os error 32)");
  const messages = new ReadableStream<Uint8Array>({ start: (controller) => controller.error(error) });
  const webSocket = () => Promise.resolve({ protocol: "v4.channel.k8s.io", messages, send() {}, close() {} });
  const { api } = await apiOf([], { webSocket });
  const rejected = { name: "ApiError", message: /^No answer from port 15000 of pod .*: Broken pipe \(os error 32\)$/ };
  await assert.rejects(api.getFromPort({ ...REQUEST, maxBytes: 1000 }), rejected);
});

Deno.test("getFromPort() names the missing right", async () => {
  const webSocket = () => Promise.reject(new TypeError("Invalid status code"));
  const request = () => new Response('{"message":"pods \\"ztunnel-1\\" is forbidden"}', { status: 403 });
  const { api } = await apiOf([], { webSocket, request });
  await assert.rejects(api.getFromPort({ ...REQUEST, maxBytes: 1000 }), {
    status: 403,
    message: /forbidden/,
    hint: /pods\/portforward/,
  });
});
