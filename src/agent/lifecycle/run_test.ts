import assert from "node:assert/strict";
import { startLog } from "../../platform/log.ts";
import { type FakeWorld, fakeWorld } from "../../../test/support/fake_world.ts";
import type { Child, ChildEnd, ChildSignal, Spawn } from "../../platform/world.ts";
import type { LifecycleControl, LifecycleOptions } from "./options.ts";
import type { EnvoyOptions } from "../envoy/options.ts";
import { BINARY_HINT } from "../envoy/binary.ts";
import { DEFAULT_RESTART, type Rules } from "./rules.ts";
import { runLifecycle, timersOf } from "./run.ts";
import type { Phase } from "./state.ts";
import { realWorld } from "../../platform/mod.ts";

const RULES: Rules = {
  hotRestart: true,
  restart: DEFAULT_RESTART,
  drain: { duration: 5000, exitOnZero: false, minimum: 0, maximum: 0 },
  grace: 1000,
};

/** An Envoy in memory: live at once, and ended by SIGTERM with code 0 or by `end`. */
class FakeEnvoy implements Child {
  readonly pid = 77;
  readonly #ended = Promise.withResolvers<ChildEnd>();
  readonly ended = this.#ended.promise;
  readonly signals: ChildSignal[] = [];
  readonly errorOutput: ReadableStream<Uint8Array> | undefined;

  constructor(readonly spawn: Spawn, lines?: string) {
    this.errorOutput = lines === undefined ? undefined : ReadableStream.from([new TextEncoder().encode(lines)]);
  }

  signal(name: ChildSignal): boolean {
    this.signals.push(name);
    if (name === "SIGTERM") this.end({ code: 0, signal: undefined });
    return true;
  }

  end(end: ChildEnd): void {
    this.#ended.resolve(end);
  }
}

interface Setting {
  readonly world: FakeWorld;
  readonly envoys: FakeEnvoy[];
  readonly asked: string[];
  readonly phases: Phase[];
  readonly discarded: number[];
  control(): LifecycleControl;
  run(envoy?: Partial<EnvoyOptions>, options?: Partial<LifecycleOptions>): Promise<number>;
  /** Waits for a phase. */
  until(phase: Phase): Promise<void>;
}

function setting(lines?: string, accepts = true): Setting {
  const envoys: FakeEnvoy[] = [];
  const asked: string[] = [];
  const phases: Phase[] = [];
  const discarded: number[] = [];
  let attached: LifecycleControl | undefined;
  const world = fakeWorld({
    spawn(spawn) {
      const envoy = new FakeEnvoy(spawn, lines);
      envoys.push(envoy);
      return envoy;
    },
    run: () => ({ code: accepts ? 0 : 1, stdout: "", stderr: "first line\nno such field\n", timedOut: false }),
    exchange({ url }) {
      asked.push(url);
      const info = ` "state": "LIVE",\n  "restart_epoch": ${envoys.length - 1}\n`;
      return { status: 200, headers: new Headers(), body: new TextEncoder().encode(info) };
    },
  });
  // Time flies, but for the waits that this Envoy is always ahead of: its grace, and its last lines.
  const sleep = world.clock.sleep;
  world.clock.sleep = (milliseconds, signal) => {
    if (milliseconds !== RULES.grace && milliseconds !== 500) return sleep(milliseconds, signal);
    return new Promise((resolve) => signal?.addEventListener("abort", () => resolve()));
  };
  const prepare = (epoch: number) => Promise.resolve(["--restart-epoch", String(epoch)]);
  const discard = (epoch: number) => Promise.resolve(void discarded.push(epoch));
  const common = { binary: "envoy", env: {}, prepare, discard, adminUrl: "http://a", inboundOnly: true, ownPorts: [] };
  return {
    world,
    envoys,
    asked,
    phases,
    discarded,
    control() {
      assert.ok(attached !== undefined);
      return attached;
    },
    run: (envoy = {}, options = {}) =>
      runLifecycle(world, {
        envoy: { ...common, ...envoy },
        rules: RULES,
        log: startLog(world, "agent"),
        attach: (control) => attached = control,
        changed: (phase) => phases.push(phase),
        ...options,
      }),
    async until(phase) {
      for (let turns = 0; turns < 1000 && attached?.phase() !== phase; turns++) await Promise.resolve();
      assert.equal(attached?.phase(), phase, world.said.stderr);
    },
  };
}

Deno.test("runLifecycle() starts Envoy with the prepared arguments, and returns its exit code", async () => {
  const { run, envoys, until, phases, discarded } = setting();
  const code = run({ env: { A: "b" } });
  await until("running");
  const { spawn } = envoys[0] ?? {};
  assert.deepEqual(spawn, {
    command: "envoy",
    args: ["--restart-epoch", "0"],
    errorOutput: "inherit",
    env: { A: "b" },
  });
  envoys[0]?.end({ code: 42, signal: undefined });
  assert.equal(await code, 42);
  assert.deepEqual(phases, ["running", "ended"]);
  assert.deepEqual(discarded, [0]);
});

Deno.test("runLifecycle() drains on SIGTERM, then sends SIGTERM; signal handlers are removed", async () => {
  const { run, world, envoys, until, asked, phases } = setting();
  const code = run();
  await until("running");
  world.raise("SIGTERM");
  assert.equal(await code, 0);
  assert.deepEqual(asked.slice(2), ["http://a/drain_listeners?inboundonly&graceful"]);
  assert.deepEqual(phases, ["running", "draining", "terminating", "ended"]);
  assert.deepEqual(envoys[0]?.signals, ["SIGTERM"]);
  world.raise("SIGTERM");
  assert.equal(phases.length, 4);
});

Deno.test("runLifecycle() removes the files of a pending prepare at the end", async () => {
  const { run, world, envoys, until, discarded } = setting();
  const prepared = Promise.withResolvers<readonly string[]>();
  const code = run({ prepare: () => prepared.promise });
  world.raise("SIGTERM");
  await until("ended");
  prepared.resolve([]);
  assert.equal(await code, 0);
  assert.deepEqual([envoys.length, discarded], [0, [0]]);
});

Deno.test("runLifecycle() takes requests through its control", async () => {
  const { run, control, until, asked } = setting();
  const code = run();
  await until("running");
  control().send("drain", { by: "POST /drain" });
  assert.equal(control().phase(), "drained");
  control().send("quit", { by: "POST /quitquitquit" });
  assert.equal(await code, 0);
  assert.deepEqual(asked.slice(2), ["http://a/drain_listeners?inboundonly&graceful&skip_exit"]);
});

Deno.test("runLifecycle() starts an epoch when watched files change, after validation", async () => {
  const { run, world, envoys, until, control, discarded } = setting();
  const code = run({}, { watch: { paths: ["/etc/envoy"], milliseconds: 1000 } });
  await until("running");
  world.change("/etc/envoy");
  assert.equal(control().phase(), "reloading");
  await until("running");
  assert.deepEqual(world.runs[0]?.args, ["--restart-epoch", "1", "--mode", "validate"]);
  assert.deepEqual(envoys[1]?.spawn.args, ["--restart-epoch", "1"]);
  envoys[0]?.end({ code: 0, signal: undefined });
  envoys[1]?.end({ code: 3, signal: undefined });
  assert.equal(await code, 3);
  assert.deepEqual(discarded.sort(), [0, 1]);
});

Deno.test("runLifecycle() does not start an epoch that Envoy rejects, and removes its files", async () => {
  const { run, world, envoys, until, discarded } = setting(undefined, false);
  const code = run();
  await until("running");
  world.raise("SIGHUP");
  await until("running");
  assert.match(world.said.stderr, /Epoch 1 was not started.*rejects the new configuration: no such field\n/);
  assert.equal(envoys.length, 1);
  world.raise("SIGQUIT");
  assert.equal(await code, 0);
  assert.deepEqual(discarded, [1, 0]);
});

Deno.test("runLifecycle() passes Envoy's stderr on, including the last line", async () => {
  const { run, envoys, until } = setting("first\nsecond {}\nlast words");
  const lines: string[] = [];
  const code = run({ errorLine: (line) => lines.push(line) });
  await until("running");
  assert.equal(envoys[0]?.spawn.errorOutput, "piped");
  envoys[0]?.end({ code: 1, signal: undefined });
  assert.equal(await code, 1);
  assert.deepEqual(lines, ["first", "second {}", "last words"]);
});

Deno.test("runLifecycle() rejects if Envoy cannot be prepared or is absent", async () => {
  const { run, discarded } = setting();
  await assert.rejects(run({ prepare: () => Promise.reject(new Error("no space left")) }), {
    message: "no space left",
  });
  assert.deepEqual(discarded, [0]);
  const world = fakeWorld();
  const envoy = {
    binary: "/x",
    env: {},
    prepare: () => Promise.resolve([]),
    adminUrl: "http://a",
    inboundOnly: true,
    ownPorts: [],
  };
  await assert.rejects(runLifecycle(world, { envoy, rules: RULES, log: startLog(world, "agent") }), {
    message: 'Cannot start "/x": program not found',
    hint: BINARY_HINT,
  });
});

Deno.test("runLifecycle() without Envoy waits for a signal", async () => {
  const { run, world, phases, envoys } = setting();
  const code = run({}, { envoy: undefined });
  world.raise("SIGHUP");
  world.raise("SIGTERM");
  assert.equal(await code, 0);
  assert.deepEqual(phases, ["ended"]);
  assert.deepEqual(envoys, []);
});

Deno.test("setting a timer replaces the last one; cleared timers never fire", async () => {
  const timers = timersOf<"a" | "b">(realWorld().clock);
  const up: string[] = [];
  const { promise, resolve } = Promise.withResolvers<void>();
  timers.set("a", 5, () => up.push("a, first"));
  timers.set("a", 5, () => up.push("a"));
  timers.set("b", 20, () => (up.push("b"), resolve()));
  await promise;
  assert.deepEqual(up, ["a", "b"]);
  timers.set("a", 1, () => up.push("forgotten"));
  timers.clear();
  await new Promise((resolve) => setTimeout(resolve, 20));
  assert.deepEqual(up, ["a", "b"]);
});
