import assert from "node:assert/strict";
import { type MeshError } from "../base/errors.ts";
import { EACCES, ENOENT, SystemError, type World } from "../platform/mod.ts";
import { fakeWorld, type FakeWorldOptions } from "../../test/support/fake_world.ts";
import { DEFAULTS, type WaitOptions } from "./options.ts";
import { runWait } from "./run.ts";
import { logReporter, pilotAgentReporter } from "./reporter.ts";

const OPTIONS: WaitOptions = { ...DEFAULTS, urls: [DEFAULTS.url], onTimeout: "fail", command: [] };
const READY = () => new Response(null, { status: 200 });
const UNREADY = () => new Response(null, { status: 503 });

/** Thrown in place of execvp. */
class Became extends Error {}

function becoming(file: string, args: readonly string[]): never {
  throw new Became([file, ...args].join(" "));
}

async function run(options: Partial<WaitOptions>, fake: FakeWorldOptions, machine: Partial<World["machine"]> = {}) {
  const world = fakeWorld({ request: READY, system: { execute: becoming }, ...fake });
  const changed = { ...world, machine: { ...world.machine, ...machine } };
  const reporter = await logReporter(changed, { quiet: false });
  const code = () => runWait(changed, { ...OPTIONS, ...options }, reporter);
  return { world, code };
}

Deno.test("a ready proxy is exit code 0 without a message", async () => {
  const { world, code } = await run({}, {});
  assert.equal(await code(), 0);
  assert.deepEqual(world.said, { stdout: "", stderr: "" });
});

Deno.test("one message while the proxy is not ready, and one when it is", async () => {
  const answers = [UNREADY, UNREADY, READY];
  const { world, code } = await run({}, { request: () => (answers.shift() ?? READY)() });
  assert.equal(await code(), 0);
  assert.equal(
    world.said.stderr,
    `2026-01-02T03:04:05.000Z info wait: Waiting for the proxy, at most 1m0s: ${DEFAULTS.url}: answered 503\n` +
      "2026-01-02T03:04:05.100Z info wait: The proxy is ready after 100ms\n",
  );
});

Deno.test("a timeout is an error with exit code 1, or a warning and the command", async () => {
  const failing = await run({ timeout: 100, command: ["app"] }, { request: UNREADY });
  await assert.rejects(failing.code(), {
    message:
      `The proxy was not ready within 100ms: ${DEFAULTS.url}: answered 503, while its agent at port 15020 says: ` +
      "answered 503",
    exitCode: 1,
  });
  const going = await run({ timeout: 100, command: ["app"], onTimeout: "continue" }, { request: UNREADY });
  await assert.rejects(going.code(), new Became("app"));
  assert.match(
    going.world.said.stderr,
    / warning wait: The proxy was not ready within 100ms: .*; running the command anyway\n$/,
  );
});

Deno.test("the process becomes the command with unchanged arguments", async () => {
  const { code } = await run({ command: ["app", "--flag", "two words", ""] }, {});
  await assert.rejects(code(), new Became("app --flag two words "));
});

Deno.test("an absent command is exit code 127, one that is not executable 126", async () => {
  for (
    const [errno, exitCode, reason] of [[ENOENT, 127, "no such file or directory"], [EACCES, 126, "permission denied"]]
  ) {
    const execute = (): never => {
      throw new SystemError('execvp "app: x"', Number(errno));
    };
    for (const shutdown of [undefined, { url: DEFAULTS.quitUrl, when: "always" as const }]) {
      const { code } = await run({ command: ["app: x"], shutdown }, { system: { execute }, attach: execute });
      await assert.rejects(code(), { message: `Cannot run "app: x": ${reason}`, exitCode });
    }
  }
});

Deno.test("MESH_WAIT_DISABLED runs the command without a wait, with a message", async () => {
  const { world, code } = await run({ command: ["app"], shutdown: { url: DEFAULTS.quitUrl, when: "always" } }, {
    env: { MESH_WAIT_DISABLED: "no mesh here" },
    request: () => assert.fail("it was asked"),
  });
  await assert.rejects(code(), new Became("app"));
  assert.match(world.said.stderr, /info wait: Not waiting: MESH_WAIT_DISABLED is "no mesh here"\n$/);
});

Deno.test("a false MESH_WAIT_DISABLED has no effect", async () => {
  for (const word of ["", "0", "false"]) {
    const { code } = await run({ timeout: 0 }, { env: { MESH_WAIT_DISABLED: word }, request: UNREADY });
    await assert.rejects(code(), /The proxy is not ready/);
  }
});

Deno.test("PID 1 stops on SIGTERM and SIGINT while it waits; other processes keep the default action", async () => {
  for (const [signal, expected] of [["SIGTERM", 143], ["SIGINT", 130]] as const) {
    const request = () => {
      world.raise(signal);
      return UNREADY();
    };
    const { world, code } = await run({ timeout: 100 }, { request }, { pid: 1 });
    assert.equal(await code(), expected);
    const other = await run({ timeout: 100 }, { request: UNREADY });
    await assert.rejects(other.code(), /not ready/);
  }
});

/** A child that exits with a code after the signal, or at once. */
function childEnding(code: number, by?: string) {
  const sent: string[] = [];
  const { promise, resolve } = Promise.withResolvers<{ code: number; signal: undefined }>();
  const signal = (name: string) => {
    sent.push(name);
    if (name === by) resolve({ code, signal: undefined });
    return true;
  };
  if (by === undefined) resolve({ code, signal: undefined });
  return { sent, attach: () => ({ ended: promise, signal }) };
}

const SHUTDOWN = { url: "http://user:secret@quit.test/", when: "always" } as const;

/** Counts the POSTs to the quit URL, which answers with these statuses in order. */
function quitting(...statuses: number[]) {
  const posts: string[] = [];
  const request: FakeWorldOptions["request"] = (url, init) => {
    if (url !== SHUTDOWN.url) return READY();
    posts.push(String(init?.method));
    return new Response(null, { status: statuses.shift() ?? 200 });
  };
  return { posts, request };
}

Deno.test("with shutdown the proxy quits after the command, whose exit code is the result", async () => {
  const { posts, request } = quitting();
  const { world, code } = await run({ command: ["job"], shutdown: SHUTDOWN }, { ...childEnding(7), request });
  assert.equal(await code(), 7);
  assert.deepEqual([posts, world.said.stderr], [["POST"], ""]);
});

Deno.test("with shutdown on success the proxy keeps running after a failed command", async () => {
  for (const [ended, expected] of [[0, ["POST"]], [3, []]] as const) {
    const { posts, request } = quitting();
    const shutdown = { ...SHUTDOWN, when: "success" } as const;
    const { code } = await run({ command: ["job"], shutdown }, { ...childEnding(ended), request });
    assert.equal(await code(), ended);
    assert.deepEqual(posts, expected);
  }
});

Deno.test("a failed quit request is sent three times, then a warning follows", async () => {
  const { posts, request } = quitting(500, 500, 405);
  const { world, code } = await run({ command: ["job"], shutdown: SHUTDOWN }, { ...childEnding(0), request });
  assert.equal(await code(), 0);
  assert.equal(posts.length, 3);
  assert.match(
    world.said.stderr,
    /warning wait: Cannot stop the proxy, .*: POST http:\/\/quit\.test\/: answered 405\n$/,
  );
});

Deno.test("signals are forwarded to a child; signals of a terminal reach it directly", async () => {
  for (
    const [stdin, expected] of [["", ["SIGINT", "SIGUSR1", "SIGTERM"]], [undefined, ["SIGUSR1", "SIGTERM"]]] as const
  ) {
    const child = childEnding(143, "SIGTERM");
    const attach = () => {
      queueMicrotask(() => {
        for (const name of ["SIGINT", "SIGUSR1", "SIGTERM"] as const) world.raise(name);
      });
      return child.attach();
    };
    const shutdown = { command: ["job"], shutdown: SHUTDOWN };
    const { world, code } = await run(shutdown, { attach, ...stdin === undefined ? {} : { stdin } });
    assert.equal(await code(), 143);
    assert.deepEqual(child.sent, expected);
    world.raise("SIGTERM");
    assert.deepEqual(child.sent, expected);
  }
});

Deno.test("on systems without execvp the command runs as a child", async () => {
  const { code } = await run({ command: ["app"] }, { ...childEnding(5) }, { os: "darwin" });
  assert.equal(await code(), 5);
});

Deno.test("an error is a log line if the log is JSON, and the only line with --quiet", async () => {
  const world = fakeWorld({ request: UNREADY });
  const reporter = await logReporter(world, { format: "json", level: undefined, quiet: true });
  assert.equal(await runWait(world, { ...OPTIONS, timeout: 100 }, reporter), 1);
  const { level, message } = JSON.parse(world.said.stderr);
  assert.equal(level, "FATAL");
  assert.match(message, /^The proxy was not ready within 100ms: .*; see the log of the proxy's container$/);
});

Deno.test("pilot-agent's lines are on standard output, also the error, which is thrown too", async () => {
  const world = fakeWorld({ request: UNREADY });
  const isWanted = (error: MeshError) =>
    /^Timeout waiting for Envoy proxy to become ready\. Last error: /.test(error.message);
  await assert.rejects(
    runWait(world, { ...OPTIONS, timeout: 2000 }, pilotAgentReporter(world, { json: false })),
    isWanted,
  );
  const [first = "", second = ""] = world.said.stdout.split("\n");
  assert.equal(first, "2026-01-02T03:04:05.000000Z\tinfo\tWaiting for Envoy proxy to be ready (timeout: 2 seconds)...");
  assert.match(second, /^2026-01-02T03:04:07.000000Z\terror\tTimeout waiting .* Last error: .*answered 503/);
});

Deno.test("pilot-agent's lines can be JSON, and a closed standard output stops nothing", async () => {
  const world = fakeWorld({ request: READY });
  assert.equal(await runWait(world, OPTIONS, pilotAgentReporter(world, { json: true })), 0);
  const lines = world.said.stdout.trim().split("\n").map((line) => JSON.parse(line).msg);
  assert.deepEqual(lines, ["Waiting for Envoy proxy to be ready (timeout: 60 seconds)...", "Envoy is ready!"]);
  const closed = fakeWorld({ request: READY, stdoutClosesAfter: 0 });
  assert.equal(await runWait(closed, OPTIONS, pilotAgentReporter(closed, { json: false })), 0);
});
