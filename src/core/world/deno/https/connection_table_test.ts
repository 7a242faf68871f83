import assert from "node:assert/strict";
import { connectionTable } from "./connection_table.ts";

const LIMITS = { most: 2, firstRequest: 10_000, silence: 60_000 };

function table() {
  const clock = { now: 0 };
  const closed: string[] = [];
  const connections = connectionTable(LIMITS, () => clock.now);
  const hold = (name: string) => connections.hold("10.0.0.1", () => closed.push(name));
  return { clock, closed, connections, hold };
}

Deno.test("one connection above the limit closes the idlest one", () => {
  const { clock, closed, connections, hold } = table();
  const first = hold("first");
  hold("second");
  clock.now = 2000;
  first.moved();
  hold("third");
  assert.deepEqual([closed, connections.size], [["second"], 2]);
});

Deno.test("a connection that ended is not closed, and makes room", () => {
  const { closed, connections, hold } = table();
  hold("first").ended();
  hold("second");
  hold("third");
  assert.deepEqual([closed, connections.size], [[], 2]);
});

Deno.test("sweep() closes a connection without a request early, and one with a request later", () => {
  const { clock, closed, connections, hold } = table();
  const slow = hold("slow");
  hold("asked").asked();
  clock.now = 10_000;
  slow.moved();
  connections.sweep();
  assert.deepEqual(closed, []);
  clock.now = 10_001;
  connections.sweep();
  assert.deepEqual(closed, ["slow"]);
  clock.now = 60_000;
  connections.sweep();
  assert.equal(connections.size, 1);
  clock.now = 60_001;
  connections.sweep();
  assert.deepEqual(closed, ["slow", "asked"]);
});

Deno.test("bytes keep a connection with a request open", () => {
  const { clock, closed, connections, hold } = table();
  const busy = hold("busy");
  busy.asked();
  for (clock.now = 0; clock.now < 300_000; clock.now += 50_000) {
    busy.moved();
    connections.sweep();
  }
  assert.deepEqual(closed, []);
  connections.closeAll();
  assert.deepEqual([closed, connections.size], [["busy"], 0]);
});
