import assert from "node:assert/strict";
import { connectionTable } from "./connection_table.ts";

const LIMITS = { most: 2, mostOfAddress: 2, newOfAddress: 100, headBytes: 1000, firstRequest: 10_000, silence: 60_000 };

function table(more: Partial<typeof LIMITS> = {}) {
  const clock = { now: 0 };
  const closed: string[] = [];
  const connections = connectionTable({ ...LIMITS, ...more }, () => clock.now);
  const hold = (name: string, remote = "10.0.0.1") => connections.hold(remote, () => closed.push(name));
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

Deno.test("a connection that ended is not closed, and frees its place", () => {
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

Deno.test("a connection without requests is closed first; a connection that waits for a response is never closed", () => {
  const { closed, connections, hold } = table({ most: 3, mostOfAddress: 3 });
  const first = hold("first");
  first.asked();
  const end = first.waits();
  hold("second").asked();
  hold("third");
  hold("fourth").asked();
  assert.deepEqual(closed, ["third"]);
  hold("fifth").waits();
  assert.deepEqual(closed, ["third", "second"]);
  hold("sixth").waits();
  assert.deepEqual(closed, ["third", "second", "fourth"]);
  hold("seventh");
  assert.deepEqual(closed, ["third", "second", "fourth", "seventh"], "all others wait");
  end();
  end();
  hold("eighth");
  assert.deepEqual([closed.at(-1), connections.size], ["first", 3]);
});

Deno.test("each address has a limit; above the total limit, a connection of the address with the most connections is closed", () => {
  const { closed, hold } = table({ most: 4, mostOfAddress: 3 });
  hold("quiet", "10.0.0.2");
  for (const name of ["a", "b", "c", "d"]) hold(name);
  assert.deepEqual(closed, ["a"]);
  hold("other", "10.0.0.3");
  assert.deepEqual(closed, ["a", "b"]);
});

Deno.test("a client that sends too much outside of requests is paused, then closed", () => {
  const { clock, closed, connections, hold } = table();
  const one = hold("one");
  assert.equal(one.received(1000), undefined);
  assert.ok(one.received(1) instanceof Promise);
  one.asked();
  assert.equal(one.received(100_000), undefined);
  one.answered();
  clock.now = 3000;
  connections.sweep();
  assert.deepEqual(closed, []);
  assert.ok(one.received(1001) instanceof Promise);
  clock.now = 5001;
  connections.sweep();
  assert.deepEqual(closed, ["one"]);
});

Deno.test("new connections above an address's limit per second are closed immediately; other addresses are unaffected", () => {
  const { closed, connections, hold } = table({ most: 10, mostOfAddress: 10, newOfAddress: 3 });
  for (const name of ["a", "b", "c", "d"]) hold(name, "10.0.0.1");
  hold("e", "10.0.0.2");
  assert.deepEqual([closed, connections.size], [["d"], 4]);
  connections.sweep();
  hold("f", "10.0.0.1");
  assert.deepEqual([closed, connections.size], [["d"], 5]);
});
