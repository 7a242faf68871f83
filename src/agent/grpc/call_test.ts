import assert from "node:assert/strict";
import { testAuthority } from "../../../test/support/tls/authority.ts";
import { grpcServer } from "../../../test/support/grpc/server.ts";
import { realNetwork } from "../../platform/deno/network/network.ts";
import { grpcCall, type GrpcRequest, grpcStream } from "./call.ts";
import type { GrpcEndpoint } from "./connection.ts";
import { GrpcError } from "./error.ts";
import { encodeFrame } from "./frames.ts";
import { CODE } from "./status.ts";

const GRPC = { "content-type": "application/grpc" };
const METHOD = "/mesh.test.Service/Method";

type Handler = (request: Request) => Response | Promise<Response>;

/** A server with HTTP/2 in clear, or over TLS. */
async function serverOf(handler: Handler, pair?: { readonly certificate: string; readonly key: string }) {
  const tls = pair === undefined ? {} : { cert: pair.certificate, key: pair.key };
  const end = new AbortController();
  const { promise, resolve } = Promise.withResolvers<number>();
  const onListen = (address: Deno.NetAddr) => resolve(address.port);
  const server = Deno.serve({ hostname: "127.0.0.1", port: 0, signal: end.signal, onListen, ...tls }, handler);
  const stop = async () => {
    end.abort();
    await server.finished;
  };
  return { address: `localhost:${await promise}`, stop, [Symbol.asyncDispose]: stop };
}

/** The calls of a client to an address. */
function clientOf(address: string, tls?: GrpcEndpoint["tls"]) {
  const request = (given: Partial<GrpcRequest>) => {
    return { endpoint: { address, tls }, method: METHOD, headers: {}, signal: AbortSignal.timeout(20_000), ...given };
  };
  return {
    call: (text: string, given: Partial<GrpcRequest> = {}) => grpcCall(realNetwork, request(given), bytes(text)),
    stream: () => grpcStream(realNetwork, request({})),
  };
}

const echo: Handler = (request) => new Response(request.body, { headers: GRPC });
const bytes = (text: string) => new TextEncoder().encode(text);

async function failure(work: Promise<unknown>): Promise<Pick<GrpcError, "code" | "stage" | "message">> {
  const error = await work.then(() => assert.fail("it succeeded"), (error) => error);
  assert.ok(error instanceof GrpcError, String(error));
  return error;
}

Deno.test("call() has the message of a server whose status is in trailers", async () => {
  await using server = grpcServer([1, 2, 3], 0);
  const { call } = clientOf(`127.0.0.1:${server.port}`);
  assert.deepEqual(await call("x"), Uint8Array.of(1, 2, 3));
});

Deno.test("call() over TLS with a name that is not the host's sends metadata", async () => {
  const authority = testAuthority();
  await using server = await serverOf(async (request) => {
    assert.equal(request.headers.get("content-type"), "application/grpc");
    assert.equal(request.headers.get("te"), "trailers");
    const [name, method] = [request.headers.get("authorization"), new URL(request.url).pathname];
    assert.equal((await request.bytes()).length, 8);
    return new Response(encodeFrame(bytes(`${name} ${method}`)), { headers: GRPC });
  }, authority.issue({ dnsNames: ["istiod.istio-system.svc"] }));
  const tls = { serverName: "istiod.istio-system.svc", authorities: authority.roots };
  const { call } = clientOf(server.address, tls);
  const answer = await call("xyz", { headers: { authorization: "Bearer a" } });
  assert.equal(new TextDecoder().decode(answer), `Bearer a ${METHOD}`);
});

Deno.test("call() rejects with the server's own status", async () => {
  const refusal = { ...GRPC, "grpc-status": "16", "grpc-message": "request authenticate failure" };
  await using server = await serverOf(() => new Response(null, { headers: refusal }));
  const { call } = clientOf(server.address);
  const { code, stage, message } = await failure(call("x"));
  assert.deepEqual([code, stage], [CODE.Unauthenticated, "status"]);
  assert.equal(
    message,
    `The server refused "Method" of "${server.address}" with Unauthenticated (16): request authenticate failure`,
  );
});

Deno.test("call() rejects a response that is empty, cut off, too large, compressed or not gRPC", async () => {
  const answers: readonly (readonly [body: Uint8Array<ArrayBuffer> | null, stage: string, text: RegExp])[] = [
    [null, "status", /ended "Method" of ".*" without an answer$/],
    [encodeFrame(bytes("abc")).subarray(0, 6), "protocol", /the body ended within a message$/],
    [Uint8Array.of(0, 255, 255, 255, 255), "protocol", /more than the maximum of 67108864$/],
    [Uint8Array.of(1, 0, 0, 0, 0), "protocol", /a message is compressed/],
  ];
  let next = 0;
  await using server = await serverOf(() => new Response(answers[next]?.[0] ?? null, { headers: GRPC }));
  await using web = await serverOf(() => new Response("hello", { status: 503 }));
  const { call } = clientOf(server.address);
  for (const [, stage, text] of answers) {
    const failed = await failure(call("x"));
    next++;
    assert.equal(failed.stage, stage);
    assert.match(failed.message, text);
  }
  const { code, message } = await failure(clientOf(web.address).call("x"));
  assert.equal(code, CODE.Unavailable);
  assert.match(message, /HTTP status 503/);
});

Deno.test("call() reports the step that failed: name, connection, TLS", async () => {
  const authority = testAuthority();
  await using server = await serverOf(echo, authority.issue({ dnsNames: ["istiod.istio-system.svc"] }));
  const tls = { serverName: "istiod.other.svc", authorities: authority.roots };
  const cases = [["no.such.host.invalid:1", "name"], ["localhost:1", "connection"], [server.address, "tls"]] as const;
  for (const [address, wanted] of cases) {
    const { call } = clientOf(address, tls);
    const { code, stage, message } = await failure(call("x"));
    assert.deepEqual([code, stage], [CODE.Unavailable, wanted]);
    if (stage === "tls") assert.match(message, /but for "istiod\.istio-system\.svc"$/);
  }
});

Deno.test("call() rejects when its signal fires (timeout or cancel); the next call is answered", async () => {
  const asked: PromiseWithResolvers<void>[] = [Promise.withResolvers(), Promise.withResolvers()];
  let count = 0;
  await using server = await serverOf((request) => {
    asked[count]?.resolve();
    return count++ < 2 ? new Promise<Response>(() => {}) : echo(request);
  });
  const { call } = clientOf(server.address);
  const late = failure(call("x", { signal: AbortSignal.timeout(200) }));
  assert.deepEqual([(await late).code, (await late).stage], [CODE.DeadlineExceeded, "status"]);
  await asked[0]?.promise;
  const end = new AbortController();
  const unwanted = failure(call("x", { signal: end.signal }));
  await asked[1]?.promise;
  end.abort();
  assert.equal((await unwanted).code, CODE.Canceled);
  assert.deepEqual(await call("again"), bytes("again"));
});

Deno.test("stream() carries messages in both directions, and ends when the server ends the stream", async () => {
  await using server = await serverOf(echo);
  const client = clientOf(server.address);
  const stream = await client.stream();
  const messages = stream.messages()[Symbol.asyncIterator]();
  for (const message of [bytes("a"), bytes(""), new Uint8Array(300_000).fill(7)]) {
    await stream.send(message);
    assert.deepEqual((await messages.next()).value, message);
  }
  stream.close();
  assert.equal((await messages.next()).done, true);
  assert.equal((await failure(stream.send(bytes("b")))).code, CODE.Unavailable);
});

Deno.test("stream() reports a refusal and a broken connection, and ends when the server ends the stream", async () => {
  let answer: Handler = () => new Response(encodeFrame(bytes("last")), { headers: GRPC });
  await using server = await serverOf((request) => answer(request));
  const client = clientOf(server.address);
  const texts: string[] = [];
  const ended = await client.stream();
  for await (const message of ended.messages()) texts.push(new TextDecoder().decode(message));
  assert.deepEqual(texts, ["last"]);
  answer = () => new Response(null, { headers: { ...GRPC, "grpc-status": "7" } });
  const refused = await client.stream();
  assert.equal((await failure(next(refused.messages()))).code, CODE.PermissionDenied);
  answer = echo;
  const broken = await client.stream();
  await broken.send(bytes("a"));
  const messages = broken.messages()[Symbol.asyncIterator]();
  await messages.next();
  await server.stop();
  const end = await messages.next().catch((error) => error);
  assert.ok(end.done === true || end.stage === "connection", String(end));
});

async function next(messages: AsyncIterable<Uint8Array>): Promise<unknown> {
  for await (const message of messages) return message;
  return undefined;
}
