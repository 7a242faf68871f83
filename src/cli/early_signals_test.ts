import assert from "node:assert/strict";
import type { SignalName, World } from "../platform/world.ts";
import { fakeWorld } from "../../test/support/fake_world.ts";
import { withEarlySignals } from "./early_signals.ts";

/** A command that runs until it is asked to end; `said` are the signals that ended the wait for it. */
function setting() {
  const fake = fakeWorld();
  const said: SignalName[] = [];
  const end = Promise.withResolvers<number>();
  let inner: World | undefined;
  const code = withEarlySignals(fake, (world) => {
    inner = world;
    return end.promise;
  }, (signal) => Promise.resolve(140 + said.push(signal)));
  const on: World["signals"]["on"] = (name, handler) => inner?.signals.on(name, handler) ?? (() => {});
  return { fake, said, end, code, on };
}

Deno.test("withEarlySignals(): a terminating signal without another handler ends the command with the signal's code", async () => {
  for (const signal of ["SIGTERM", "SIGINT", "SIGQUIT"] as const) {
    const { fake, said, code } = setting();
    fake.raise(signal);
    assert.deepEqual([await code, said], [141, [signal]]);
  }
});

Deno.test("withEarlySignals(): other signals have no effect", async () => {
  const { fake, said, end, code } = setting();
  for (const signal of ["SIGHUP", "SIGUSR1", "SIGUSR2"] as const) fake.raise(signal);
  end.resolve(7);
  assert.deepEqual([await code, said], [7, []]);
});

Deno.test("withEarlySignals(): the command's own handlers take over, even after the command has removed them", async () => {
  const { fake, said, end, code, on } = setting();
  const got: string[] = [];
  const forget = on("SIGTERM", () => got.push("SIGTERM"));
  fake.raise("SIGTERM");
  forget();
  fake.raise("SIGTERM");
  end.resolve(42);
  assert.deepEqual([await code, said, got], [42, [], ["SIGTERM"]]);
});
