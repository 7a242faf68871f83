import assert from "node:assert/strict";
import { fakeWorld } from "../../../test/support/fake_world.ts";
import { startReaper } from "./reaper.ts";

/** A world with ended children, whose looks at them are counted by the sleeps between. */
function worldWith(stats: Record<string, string>, isAwaited: (pid: number) => boolean = () => false) {
  const reaped: number[] = [];
  let adopted = false;
  const files = Object.fromEntries(Object.entries(stats).map(([pid, stat]) => [`/proc/${pid}/stat`, stat]));
  const world = fakeWorld({
    files: { ...files, "/proc/meminfo": "" },
    isAwaited,
    system: {
      adoptOrphans: () => void (adopted = true),
      hasEndedChild: () => world.content.size > 1,
      reap(pid) {
        reaped.push(pid);
        world.content.delete(`/proc/${pid}/stat`);
      },
    },
  });
  return { world, reaped, adopted: () => adopted };
}

const stat = (state: string, parent: number, start = 100) =>
  `12 (na) me \xff) ${state} ${parent} 1 1 0 -1 4 0 0 0 0 0 0 0 0 20 0 1 0 ${start} 0 0`;

async function settle() {
  for (let turns = 0; turns < 200; turns++) await Promise.resolve();
}

Deno.test("startReaper() reaps an orphan seen as a zombie three times", async () => {
  const { world, reaped, adopted } = worldWith({ "20": stat("Z", 4242), "21": stat("Z", 4242) });
  const stop = startReaper(world);
  await settle();
  stop();
  assert.equal(adopted(), true);
  assert.deepEqual(reaped, [20, 21]);
  assert.equal(world.clock.monotonic(), 3 * 300);
});

Deno.test("startReaper() leaves a child to the starter that waits for it, as long as it waits", async () => {
  let looks = 0;
  const { world, reaped } = worldWith({ "20": stat("Z", 4242) }, () => ++looks <= 20);
  const stop = startReaper(world);
  for (let rounds = 0; rounds < 20; rounds++) await settle();
  stop();
  assert.equal(looks, 23);
  assert.deepEqual(reaped, [20]);
});

Deno.test("startReaper() leaves running and foreign children, and reused PIDs", async () => {
  const { world, reaped } = worldWith({ "20": stat("S", 4242), "21": stat("Z", 1), "22": stat("Z", 4242, 1) });
  let start = 1;
  const sleep = world.clock.sleep;
  world.clock.sleep = (milliseconds, signal) => {
    world.content.set("/proc/22/stat", new TextEncoder().encode(stat("Z", 4242, ++start)));
    if (start > 20) world.content.clear();
    return sleep(milliseconds, signal);
  };
  const stop = startReaper(world);
  for (let rounds = 0; rounds < 20; rounds++) await settle();
  stop();
  assert.ok(start > 20);
  assert.deepEqual(reaped, []);
});

Deno.test("startReaper() looks again on SIGCHLD, until stopped", async () => {
  const { world, reaped } = worldWith({});
  const stop = startReaper(world);
  await settle();
  world.content.set("/proc/30/stat", new TextEncoder().encode(stat("Z", 4242)));
  world.raise("SIGCHLD");
  await settle();
  assert.deepEqual(reaped, [30]);
  stop();
  world.content.set("/proc/31/stat", new TextEncoder().encode(stat("Z", 4242)));
  world.raise("SIGCHLD");
  await settle();
  assert.deepEqual(reaped, [30]);
});

Deno.test("startReaper() does nothing if system calls are refused", async () => {
  const world = fakeWorld();
  const stop = startReaper(world);
  await settle();
  stop();
  assert.equal(world.clock.monotonic(), 0);
});
