import assert from "node:assert/strict";
import { startLog } from "../../../platform/log.ts";
import { type Socket, SystemError } from "../../../platform/mod.ts";
import { fakeWorld } from "../../../../test/support/fake_world.ts";
import { probeSource } from "./source.ts";

/** A machine on which sockets can be bound while `fails` is false. */
function machine() {
  const state = { fails: true, bound: 0, closed: 0 };
  const unused = (): never => assert.fail("not called");
  const socket: Socket = {
    bind() {
      state.bound++;
      if (state.fails) throw new SystemError("bind", 99);
    },
    bindInterface: unused,
    listen: unused,
    connect: unused,
    accept: unused,
    local: unused,
    failure: unused,
    send: unused,
    receive: unused,
    close: () => void state.closed++,
  };
  return { state, world: fakeWorld({ system: { openSocket: () => socket } }) };
}

Deno.test("probeSource() warns once if the address cannot be bound, and retries", () => {
  const { state, world } = machine();
  const source = probeSource(world, "2001:db8::1", startLog(world, "agent"));
  assert.equal(source(), undefined);
  assert.equal(source(), undefined);
  assert.equal(
    world.said.stderr.match(/cannot use the source address ::6: bind: cannot assign requested address/g)?.length,
    1,
  );
  state.fails = false;
  assert.equal(source(), "::6");
  assert.equal(source(), "::6");
  assert.deepEqual([state.bound, state.closed], [3, 3]);
});

Deno.test("probeSource() has the application's family", () => {
  const { state, world } = machine();
  state.fails = false;
  const logger = startLog(world, "agent");
  assert.equal(probeSource(world, "10.0.0.1", logger)(), "127.0.0.6");
  assert.equal(probeSource(world, "localhost", logger)(), "127.0.0.6");
});

Deno.test("probeSource() works without system calls", () => {
  const world = fakeWorld();
  assert.equal(probeSource(world, "10.0.0.1", startLog(world, "agent"))(), undefined);
  assert.match(world.said.stderr, /socket: function not implemented/);
});
