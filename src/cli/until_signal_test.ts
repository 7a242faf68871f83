import assert from "node:assert/strict";
import { fakeWorld, type SignalName } from "../core/world/mod.ts";
import { untilSignal } from "./until_signal.ts";

/** A world whose signals the test sends; `handled` are those with a handler. */
function signalled() {
  const handled = new Map<SignalName, () => void>();
  const on = (name: SignalName, handler: () => void) => {
    handled.set(name, handler);
    return () => void handled.delete(name);
  };
  return { world: { ...fakeWorld(), signals: { on } }, handled };
}

for (const [signal, code] of [["SIGINT", 130], ["SIGTERM", 143]] as const) {
  Deno.test(`untilSignal(): ${signal} ends work that hangs`, async () => {
    const { world, handled } = signalled();
    const ended = untilSignal(world, Promise.withResolvers<number>().promise);
    handled.get(signal)?.();
    assert.equal(await ended, code);
    assert.equal(handled.size, 0);
  });
}

Deno.test("untilSignal(): the code or the error of the work, and no handler is left", async () => {
  const { world, handled } = signalled();
  assert.equal(await untilSignal(world, Promise.resolve(1)), 1);
  await assert.rejects(untilSignal(world, Promise.reject(new Error("broken"))), /broken/);
  assert.equal(handled.size, 0);
});
