import { getLogger } from "@logtape/logtape";
import assert from "node:assert/strict";
import { grpcServer } from "../../../test/support/grpc.ts";
import { openSocketLibc } from "../../core/world/libc.ts";
import { realWorld } from "../../core/world/real.ts";
import { checkOf } from "./check.ts";
import type { HealthCheck } from "./options.ts";

// The library stays loaded: no test is to be blamed for it.
if (Deno.build.os === "linux") openSocketLibc();

const log = getLogger(["test", "healthcheck"]);
const HOST = "127.0.0.1";

function check(check: HealthCheck, seconds = 20): Promise<string | undefined> {
  return checkOf(realWorld(), check, seconds, log)(new AbortController().signal);
}

function http(port: number, path = "/200", headers: readonly (readonly [string, string])[] = []) {
  const prober = { kind: "http", port, path, isTls: false, timeoutSeconds: 20 } as const;
  return { kind: "asked", host: HOST, headers, prober } as const;
}

/** An application that answers with the status in its path. */
function application() {
  const asked: Headers[] = [];
  const server = Deno.serve({ hostname: HOST, port: 0, onListen: () => {} }, ({ url, headers }) => {
    asked.push(headers);
    return new Response(null, { status: Number(new URL(url).pathname.slice(1)) });
  });
  return { port: server.addr.port, asked, [Symbol.asyncDispose]: () => server.shutdown() };
}

/** A port that nobody has. */
function freePort(): number {
  using listener = Deno.listen({ hostname: HOST, port: 0 });
  return listener.addr.port;
}

Deno.test("an http check takes 200 to 399 for well", async () => {
  await using app = application();
  for (const status of [200, 204, 302, 399, 400, 404, 500, 503]) {
    const expected = status < 400 ? undefined : `the application answered ${status}`;
    assert.equal(await check(http(app.port, `/${status}`)), expected);
  }
  assert.equal(await check(http(freePort())), "connection refused");
});

Deno.test("an http check has the headers that it is given", async () => {
  await using app = application();
  await check(http(app.port, "/200", [["X-Many", "1"], ["X-Many", "2"], ["Host", "app.example"]]));
  await check(http(app.port, "/200", [["User-Agent", "own"]]));
  const [first, second] = app.asked.map((headers) => ["x-many", "host", "user-agent"].map((name) => headers.get(name)));
  assert.deepEqual(first, ["1, 2", "app.example", "istio-probe/1.0"]);
  assert.deepEqual(second, [null, `${HOST}:${app.port}`, "own"]);
});

Deno.test("a tcp check is about the port alone", async () => {
  await using app = application();
  const tcp = (port: number) =>
    ({ kind: "asked", host: HOST, headers: [], prober: { kind: "tcp", port, timeoutSeconds: 20 } }) as const;
  assert.equal(await check(tcp(app.port)), undefined);
  assert.match(await check(tcp(freePort())) ?? "", /refused/);
});

Deno.test("a grpc check asks the service for its health", async () => {
  for (const [message, expected] of [[[8, 1], /^$/], [[8, 2], /^The service "" is NOT_SERVING$/]] as const) {
    await using app = grpcServer(message, 0);
    const prober = { kind: "grpc", port: app.port, service: "", timeoutSeconds: 20 } as const;
    assert.match(await check({ kind: "asked", host: HOST, headers: [], prober }) ?? "", expected);
  }
});

Deno.test("an exec check is about the exit code, and is ended when it takes too long", async () => {
  const exec = (script: string, seconds?: number) => check({ kind: "exec", command: ["sh", "-c", script] }, seconds);
  assert.equal(await exec("exit 0"), undefined);
  assert.equal(await exec("exit 7"), '"sh" ended with exit code 7');
  assert.equal(await exec("exec sleep 60", 0.2), '"sh" did not end within 0.2s');
  assert.equal(
    await check({ kind: "exec", command: ["/no/such/program"] }),
    '"/no/such/program" ended with exit code 127',
  );
});

Deno.test("a check of an application that does not answer fails in time", async () => {
  using listener = Deno.listen({ hostname: HOST, port: 0 });
  assert.equal(await check(http(listener.addr.port), 0.2), "no answer within 200ms");
});
