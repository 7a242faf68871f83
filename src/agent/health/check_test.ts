import { getLogger } from "@logtape/logtape";
import assert from "node:assert/strict";
import { until } from "../../../test/support/until.ts";
import { grpcServer } from "../../../test/support/grpc/server.ts";
import { freePort } from "../../../test/support/ports.ts";
import { temporaryFolder } from "../../../test/support/temporary_folder.ts";
import { socketLibc } from "../../platform/linux/sockets.ts";
import { realWorld } from "../../platform/deno/world.ts";
import { healthCheck } from "./check.ts";
import type { HealthCheck } from "./options.ts";

// The library stays loaded: no test is to be blamed for it.
if (Deno.build.os === "linux") socketLibc();

const log = getLogger(["test", "healthcheck"]);
const HOST = "127.0.0.1";

function check(check: HealthCheck, seconds = 20): Promise<string | undefined> {
  return healthCheck(realWorld(), check, seconds, log)(new AbortController().signal);
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

Deno.test("an http check is healthy for 200 to 399", async () => {
  await using app = application();
  for (const status of [200, 204, 302, 399, 400, 404, 500, 503]) {
    const expected = status < 400 ? undefined : `the application answered ${status}`;
    assert.equal(await check(http(app.port, `/${status}`)), expected);
  }
  assert.equal(await check(http(freePort())), "connection refused");
});

Deno.test("an http check sends the configured headers", async () => {
  await using app = application();
  await check(http(app.port, "/200", [["X-Many", "1"], ["X-Many", "2"], ["Host", "app.example"]]));
  await check(http(app.port, "/200", [["User-Agent", "own"]]));
  const [first, second] = app.asked.map((headers) => ["x-many", "host", "user-agent"].map((name) => headers.get(name)));
  assert.deepEqual(first, ["1, 2", "app.example", "istio-probe/1.0"]);
  assert.deepEqual(second, [null, `${HOST}:${app.port}`, "own"]);
});

Deno.test("a tcp check connects to the port", async () => {
  await using app = application();
  const tcp = (port: number) =>
    ({ kind: "asked", host: HOST, headers: [], prober: { kind: "tcp", port, timeoutSeconds: 20 } }) as const;
  assert.equal(await check(tcp(app.port)), undefined);
  assert.match(await check(tcp(freePort())) ?? "", /refused/);
});

Deno.test("a grpc check queries the service's health", async () => {
  for (const [message, expected] of [[[8, 1], /^$/], [[8, 2], /^The service "" is NOT_SERVING$/]] as const) {
    await using app = grpcServer(message, 0);
    const prober = { kind: "grpc", port: app.port, service: "", timeoutSeconds: 20 } as const;
    assert.match(await check({ kind: "asked", host: HOST, headers: [], prober }) ?? "", expected);
  }
});

const exec = (script: string) => ({ kind: "exec", command: ["sh", "-c", script] }) as const;

Deno.test("an exec check uses the exit code", async () => {
  assert.equal(await check(exec("exit 0")), undefined);
  assert.equal(await check(exec("exit 7")), '"sh" exited with code 7');
  const absent = 'Cannot start "/no/such/program": program not found';
  assert.equal(await check({ kind: "exec", command: ["/no/such/program"] }), absent);
});

/** A script that starts a program, writes down that program's number and waits for it. */
function slow(file: string) {
  return { ...exec(`sleep 600 & echo $! > "${file}.new"; mv "${file}.new" "${file}"; wait`), file };
}

/** A process that was killed is gone, or waits to be reaped by whoever has orphans. */
async function isGone(file: string): Promise<boolean> {
  const pid = (await Deno.readTextFile(file)).trim();
  const stat = await Deno.readTextFile(`/proc/${pid}/stat`).catch(() => "");
  return stat === "" || stat.includes(") Z ");
}

Deno.test({
  name: "an exec check that takes too long is ended with all that it has started",
  ignore: Deno.build.os !== "linux",
  async fn() {
    await using folder = await temporaryFolder();
    const { file, ...script } = slow(`${folder.path}/pid`);
    assert.equal(await check(script, 3), '"sh" did not exit within 3s');
    await until(() => isGone(file));
  },
});

Deno.test({
  name: "an exec check ends with the agent",
  ignore: Deno.build.os !== "linux",
  async fn() {
    await using folder = await temporaryFolder();
    const { file, ...script } = slow(`${folder.path}/pid`);
    const end = new AbortController();
    const ended = healthCheck(realWorld(), script, 600, log)(end.signal);
    await until(() => Deno.stat(file).then(() => true, () => false));
    end.abort();
    assert.equal(await ended, '"sh" exited with code 137');
    await until(() => isGone(file));
  },
});

Deno.test("a check without an answer fails at its timeout", async () => {
  using listener = Deno.listen({ hostname: HOST, port: 0 });
  assert.equal(await check(http(listener.addr.port), 0.2), "no answer within 200ms");
});
