import assert from "node:assert/strict";
import { fakeWorld } from "../../../test/support/fake_world.ts";
import type { EnvoyAdmin } from "./admin.ts";
import { untilLive } from "./liveness.ts";

function adminThat(isLive: (asked: number) => boolean): EnvoyAdmin {
  let asked = 0;
  return {
    isLive: () => Promise.resolve().then(() => isLive(++asked)),
    drainListeners: () => Promise.reject(new Error("not asked")),
    clientConnections: () => Promise.reject(new Error("not asked")),
    forwardedRequests: () => Promise.reject(new Error("not asked")),
  };
}

function refuse(): never {
  throw new Error("connection refused");
}

const never = new AbortController().signal;

Deno.test("untilLive() polls with growing delays until the epoch is live", async () => {
  const world = fakeWorld();
  const admin = adminThat((asked) => asked === 1 ? refuse() : asked === 20);
  assert.equal(await untilLive(world, admin, 0, never), true);
  const seconds = world.clock.monotonic() / 1000;
  assert.ok(seconds > 3 && seconds < 5, `${seconds}`);
});

Deno.test("untilLive() treats an Envoy without any answer as live after a minute", async () => {
  const silent = fakeWorld();
  assert.equal(await untilLive(silent, adminThat(refuse), 0, never), true);
  assert.ok(silent.clock.monotonic() > 60_000);
  const world = fakeWorld();
  const end = new AbortController();
  const admin = adminThat((asked) => {
    if (asked === 500) end.abort();
    return asked === 1 ? false : refuse();
  });
  assert.equal(await untilLive(world, admin, 0, end.signal), false);
  assert.ok(world.clock.monotonic() > 100_000);
});

Deno.test("untilLive() stops when aborted, also if the answer comes too late", async () => {
  const end = new AbortController();
  const late = adminThat(() => {
    end.abort();
    return true;
  });
  assert.equal(await untilLive(fakeWorld(), late, 0, end.signal), false);
  assert.equal(await untilLive(fakeWorld(), adminThat(refuse), 0, AbortSignal.abort()), false);
});
