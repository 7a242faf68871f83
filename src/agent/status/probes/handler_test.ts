import assert from "node:assert/strict";
import { grpcServer } from "../../../../test/support/grpc/server.ts";
import { tlsInFrontOf } from "../../../../test/support/tls/self_signed.ts";
import { serve, statusServer } from "../../../../test/support/agent/status.ts";
import { testWhen } from "../../../../test/support/test_when.ts";
import type { Prober } from "./config.ts";

const notLinux = Deno.build.os === "linux" ? undefined : "not Linux";

function withProber(prober: Prober, host = "127.0.0.1", isHttp2Offered = true) {
  const probers = new Map([["/app-health/app/livez", prober]]);
  return statusServer({ application: { probers, host, isHttp2Offered } });
}

function http(port: number, path = "/", more: { isTls?: boolean; timeoutSeconds?: number } = {}): Prober {
  return { kind: "http", port, path, isTls: false, timeoutSeconds: 0, ...more };
}

async function ask(origin: string, headers: HeadersInit = {}, path = "/app-health/app/livez") {
  const response = await fetch(origin + path, { headers });
  return { status: response.status, text: await response.text() };
}

/** An application that answers with the status in its path, or redirects to what the query says. */
function application() {
  const asked: { url: string; from: string; headers: Headers }[] = [];
  const server = serve((request, from) => {
    asked.push({ url: request.url, from, headers: new Headers(request.headers) });
    const { pathname, searchParams } = new URL(request.url);
    const status = Number(pathname.slice(1)) || 200;
    const location = searchParams.get("to");
    const headers: HeadersInit = location === null ? {} : { location };
    return new Response([204, 205, 304].includes(status) ? null : "said", { status, headers });
  });
  return { port: server.addr.port, asked, [Symbol.asyncDispose]: () => server.shutdown() };
}

Deno.test("an http probe passes every status on; any redirect is a success", async () => {
  await using app = application();
  const probers = new Map<string, Prober>();
  const codes = Array.from({ length: 312 }, (_, index) => 200 + index);
  for (const code of codes) probers.set(`/app-health/c${code}/livez`, http(app.port, `/${code}`));
  await using status = await statusServer({ application: { probers, host: "127.0.0.1", isHttp2Offered: true } });
  for (const code of codes) {
    const { status: reported } = await ask(status.origin, {}, `/app-health/c${code}/livez`);
    assert.equal(reported, code >= 300 && code < 400 ? 200 : code);
  }
});

Deno.test("an unknown probe is a bad request", async () => {
  await using status = await statusServer();
  for (const path of ["/app-health/app/livez", "/app-lifecycle/app/prestopz"]) {
    const { status: code, text } = await ask(status.origin, {}, path);
    assert.deepEqual([code, text], [400, `app prober config does not exists for ${path}`]);
  }
});

testWhen(
  notLinux,
  "an http probe comes from 127.0.0.6, with the kubelet's headers and the application's port",
  async () => {
    await using app = application();
    await using status = await withProber(http(app.port, "/200?a=b"));
    const port = status.server.port;
    const { status: code, text } = await ask(status.origin, { "user-agent": "kube-probe/1.30", "x-own": "1" });
    assert.deepEqual([code, text], [200, "said"]);
    const [seen] = app.asked;
    assert.equal(seen?.from, "127.0.0.6");
    assert.equal(seen?.url, `http://127.0.0.1:${app.port}/200?a=b`);
    assert.equal(seen?.headers.get("user-agent"), "kube-probe/1.30");
    assert.equal(seen?.headers.get("x-own"), "1");
    assert.equal(seen?.headers.get("connection"), "close");
    const answer = await rawRequest(port, "Host: app.example\r\nX-Many: 1\r\nX-Many: 2\r\n");
    assert.match(answer, /^HTTP\/1\.1 200 /);
    assert.equal(app.asked[1]?.url, "http://app.example/200?a=b");
    assert.equal(app.asked[1]?.headers.get("x-many"), "1, 2");
  },
);

async function rawRequest(port: number | undefined, fields: string): Promise<string> {
  using connection = await Deno.connect({ hostname: "127.0.0.1", port: port ?? 0 });
  const text = `GET /app-health/app/livez HTTP/1.1\r\n${fields}Connection: close\r\n\r\n`;
  await connection.write(new TextEncoder().encode(text));
  return await new Response(connection.readable).text();
}

const REDIRECTIONS = [
  { name: "to another path is followed", to: "/404", status: 404, requests: 2 },
  { name: "to the same host is followed", to: "http://127.0.0.1:PORT/503", status: 503, requests: 2 },
  { name: "to another host is a success", to: "http://example.com/503", status: 200, requests: 1 },
  { name: "that ends without a Location is a success", to: "/302?to=/302", status: 200, requests: 3 },
  { name: "to no URL is a failure", to: "http://[", status: 500, requests: 1 },
];

for (const { name, to, status: expected, requests } of REDIRECTIONS) {
  Deno.test(`a redirect ${name}`, async () => {
    await using app = application();
    const target = encodeURIComponent(to.replace("PORT", String(app.port)));
    await using status = await withProber(http(app.port, `/302?to=${target}`));
    assert.equal((await ask(status.origin)).status, expected);
    assert.equal(app.asked.length, requests);
  });
}

Deno.test("a redirect loop fails after ten requests", async () => {
  let requests = 0;
  await using app = serve(() => {
    requests++;
    return new Response(null, { status: 302, headers: { location: "/again" } });
  });
  await using status = await withProber(http(app.addr.port));
  assert.equal((await ask(status.origin)).status, 500);
  assert.equal(requests, 10);
  assert.match(status.log(), /error agent·probes: .*The application redirected 10 times/);
});

Deno.test("a body of more than 10240 bytes is cut, also an endless one", async () => {
  await using app = serve(() => {
    return new Response(
      new ReadableStream({ pull: (controller) => controller.enqueue(new Uint8Array(4096).fill(65)) }),
    );
  });
  await using status = await withProber(http(app.addr.port));
  const { status: code, text } = await ask(status.origin);
  assert.deepEqual([code, text.length], [200, 10_240]);
});

Deno.test("an unreachable application or an invalid address is a failure", async () => {
  for (const host of ["127.0.0.1", "[::1]"]) {
    await using status = await withProber(http(1), host);
    assert.deepEqual(await ask(status.origin), { status: 500, text: "" });
    assert.match(status.log(), /Application probe "\/app-health\/app\/livez" failed: /);
  }
});

Deno.test("an application without an answer fails at the timeout", async () => {
  await using app = serve((request) => {
    const gone = Promise.withResolvers<Response>();
    request.signal.addEventListener("abort", () => gone.resolve(new Response()));
    return gone.promise;
  });
  await using status = await withProber(http(app.addr.port, "/", { timeoutSeconds: 1 }));
  assert.equal((await ask(status.origin)).status, 500);
});

Deno.test("a kubelet that disconnects aborts its probe", async () => {
  const gone = Promise.withResolvers<void>();
  await using app = serve((request) => {
    const answer = Promise.withResolvers<Response>();
    request.signal.addEventListener("abort", () => {
      gone.resolve();
      answer.resolve(new Response());
    });
    return answer.promise;
  });
  await using status = await withProber(http(app.addr.port));
  await assert.rejects(fetch(`${status.origin}/app-health/app/livez`, { signal: AbortSignal.timeout(200) }));
  await gone.promise;
});

Deno.test("localhost is an application in this network namespace", async () => {
  await using app = application();
  for (const prober of [http(app.port), { kind: "tcp", port: app.port, timeoutSeconds: 5 } as const]) {
    await using status = await withProber(prober, "localhost");
    assert.equal((await ask(status.origin)).status, 200);
  }
});

const HANDSHAKES = [
  { name: "no protocols", offers: undefined, status: 200, isHttp2: false },
  { name: "HTTP/1.1", offers: ["http/1.1"], status: 200, isHttp2: false },
  { name: "HTTP/2", offers: ["h2"], status: 200, isHttp2: true },
  { name: "both", offers: ["h2", "http/1.1"], status: 200, isHttp2: true },
  { name: "an unknown protocol", offers: ["foo"], status: 500, isHttp2: undefined },
] as const;

for (const { name, offers, status: expected, isHttp2 } of HANDSHAKES) {
  testWhen(notLinux, `an https probe of a server with ${name}`, async () => {
    await using app = application();
    await using tls = tlsInFrontOf(app.port, offers);
    await using status = await withProber(http(tls.port, "/200", { isTls: true, timeoutSeconds: 10 }));
    assert.equal((await ask(status.origin)).status, expected);
    // HTTP/2 has no such field.
    const connection = app.asked[0]?.headers.get("connection");
    assert.equal(connection, isHttp2 === false ? "close" : isHttp2 === true ? null : undefined);
  });
}

testWhen(notLinux, "an https probe uses HTTP/1.1 if HTTP/2 is switched off", async () => {
  await using app = application();
  await using tls = tlsInFrontOf(app.port, ["h2", "http/1.1"]);
  await using status = await withProber(http(tls.port, "/200", { isTls: true }), "127.0.0.1", false);
  assert.equal((await ask(status.origin)).status, 200);
  assert.equal(app.asked[0]?.headers.get("connection"), "close");
});

testWhen(notLinux, "a tcp probe connects from 127.0.0.6, and fails without a listener", async () => {
  using listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  const accepted = listener.accept();
  await using status = await withProber({ kind: "tcp", port: listener.addr.port, timeoutSeconds: 5 });
  assert.equal((await ask(status.origin)).status, 200);
  using connection = await accepted;
  assert.equal(connection.remoteAddr.hostname, "127.0.0.6");
  await using other = await withProber({ kind: "tcp", port: 1, timeoutSeconds: 5 });
  assert.equal((await ask(other.origin)).status, 500);
});

/** A gRPC server without trailers: it answers with the frame for the service in the request. */
function grpcApplication(frames: Record<string, readonly number[]>, asked: Headers[] = []) {
  return serve(async (request) => {
    asked.push(new Headers(request.headers));
    const frame = new Uint8Array(await request.arrayBuffer());
    const answer = frames[new TextDecoder().decode(frame.subarray(7))];
    const headers: HeadersInit = {
      "content-type": "application/grpc",
      ...answer === undefined ? { "grpc-status": "5" } : {},
    };
    return new Response(answer === undefined ? null : Uint8Array.from(answer), { headers });
  });
}

Deno.test("a grpc probe succeeds if the service is serving", async () => {
  const asked: Headers[] = [];
  const frames = { "": [0, 0, 0, 0, 2, 8, 1], well: [0, 0, 0, 0, 2, 8, 1], ill: [0, 0, 0, 0, 2, 8, 2] };
  await using app = grpcApplication(frames, asked);
  for (const [service, expected] of [["", 200], ["well", 200], ["ill", 500], ["absent", 500]] as const) {
    await using status = await withProber({ kind: "grpc", port: app.addr.port, service, timeoutSeconds: 5 });
    assert.equal((await ask(status.origin, { "user-agent": "kube-probe/1.30" })).status, expected, service);
  }
  assert.equal(asked[0]?.get("user-agent"), "kube-probe/1.30");
  assert.equal(asked[0]?.get("te"), "trailers");
});

Deno.test("a grpc probe reads an answer with trailers", async () => {
  for (const [message, expected] of [[[8, 1], 200], [[8, 2], 500], [[], 500]] as const) {
    await using app = grpcServer(message, 0);
    await using status = await withProber({ kind: "grpc", port: app.port, service: "", timeoutSeconds: 5 });
    assert.equal((await ask(status.origin)).status, expected);
  }
});

Deno.test("a grpc probe fails for an HTTP/1.1 server, and without a server", async () => {
  using listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  const served = listener.accept().then(async (connection) => {
    await connection.write(new TextEncoder().encode("HTTP/1.1 400 Bad Request\r\n\r\n"));
    connection.close();
  });
  for (const port of [listener.addr.port, 1]) {
    await using status = await withProber({ kind: "grpc", port, service: "", timeoutSeconds: 5 });
    assert.equal((await ask(status.origin)).status, 500);
  }
  await served;
});
