import assert from "node:assert/strict";
import { fakeWorld, type FakeWorldOptions } from "../../../test/support/fake_world.ts";
import { connect } from "./mod.ts";

const REQUEST = { namespace: "shop", pod: "web", container: "app", command: ["id"], timeout: 5000, maxBytes: 10 };

/** A world whose API server sends these messages over a WebSocket. */
async function apiOf(messages: readonly (readonly [stream: number, text: string])[], more: FakeWorldOptions = {}) {
  const webSocket = () =>
    Promise.resolve({
      protocol: "v5.channel.k8s.io",
      messages: ReadableStream.from(
        messages.map(([stream, text]) => new Uint8Array([stream, ...new TextEncoder().encode(text)])),
      ),
      send: () => {},
      close: () => {},
    });
  return await connect(fakeWorld({ webSocket, ...more }), { server: "https://api.test" });
}

const FAILED = (status: object) => JSON.stringify({ status: "Failure", ...status });

Deno.test("exec() joins the messages of a stream and reads the exit code", async () => {
  const api = await apiOf([[1, "a"], [2, "e"], [1, "b"], [3, '{"status":'], [3, '"Success"}']]);
  const { code, stdout, stderr } = await api.exec(REQUEST);
  assert.deepEqual([code, new TextDecoder().decode(stdout), stderr], [0, "ab", "e"]);
});

const ENDS: Readonly<Record<string, readonly [status: string, failure: string]>> = {
  "no status": ["", "other"],
  "a status that is no JSON": ["{", "other"],
  "another reason": [FAILED({ message: "the moon is full" }), "other"],
  "no such container": [
    FAILED({ message: 'unable to upgrade connection: container not found ("app")' }),
    "not-running",
  ],
  "no such program": [FAILED({ message: 'exec: "id": executable file not found in $PATH: unknown' }), "no-command"],
  "no kubelet": [FAILED({ message: "error dialing backend: dial tcp 10.0.0.9:10250: i/o timeout" }), "node"],
};

for (const [name, [status, failure]] of Object.entries(ENDS)) {
  Deno.test(`exec() rejects: ${name}`, async () => {
    const api = await apiOf([[1, "x"], [3, status]]);
    await assert.rejects(api.exec(REQUEST), { name: "ExecError", failure });
  });
}

Deno.test("exec() rejects with a reason if the connection breaks", async () => {
  const error = new TypeError("Broken pipe (os error 32)");
  const messages = new ReadableStream<Uint8Array>({ start: (controller) => controller.error(error) });
  const webSocket = () => Promise.resolve({ protocol: "v5.channel.k8s.io", messages, send() {}, close() {} });
  const api = await apiOf([], { webSocket });
  await assert.rejects(api.exec(REQUEST), {
    name: "ExecError",
    failure: "other",
    message: /: the connection broke: Broken/,
  });
});

Deno.test("exec() reads no more than it may", async () => {
  const api = await apiOf([[1, "x".repeat(11)], [3, '{"status":"Success"}']]);
  await assert.rejects(api.exec(REQUEST), { failure: "too-long", message: /longer than 10 bytes/ });
});

Deno.test("exec() asks again without a WebSocket why it was refused", async () => {
  const asked: string[] = [];
  const webSocket = () => Promise.reject(new TypeError("Invalid status code"));
  const answers = [
    [
      403,
      '{"message":"pods \\"web\\" is forbidden: User \\"joe\\" cannot create resource \\"pods/exec\\""}',
      "forbidden",
    ],
    [404, '{"message":"pods \\"web\\" not found"}', "no-pod"],
    [400, '{"message":"container app is not valid for pod web"}', "no-container"],
    [400, '{"message":"Upgrade request required"}', "no-websocket"],
  ] as const;
  for (const [status, body, failure] of answers) {
    const request = (url: string) => {
      asked.push(url);
      return new Response(body, { status });
    };
    const api = await apiOf([], { webSocket, request });
    await assert.rejects(api.exec(REQUEST), { failure });
  }
  assert.deepEqual(
    [...new Set(asked)],
    ["https://api.test/api/v1/namespaces/shop/pods/web/exec?container=app&stdout=true&stderr=true&command=id"],
  );
});
