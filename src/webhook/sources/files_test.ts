import assert from "node:assert/strict";
import { MeshError } from "../../base/errors.ts";
import { startLog } from "../../platform/log.ts";
import { fakeWorld } from "../../../test/support/fake_world.ts";
import { watchFiles } from "./files.ts";

/** A number in a file; any other text is unusable. */
async function kept(text: string) {
  const world = fakeWorld({ files: { "/n": text } });
  const log = startLog(world, "webhook");
  const make = async () => {
    const read = Number(await world.files.readText("/n"));
    if (Number.isNaN(read)) throw new MeshError('"/n" is no number', { hint: "write digits" });
    return read;
  };
  const thing = await watchFiles(world.files, log, { name: "number", paths: ["/n"], make });
  let changes = 0;
  thing.onChange(() => changes++);
  const write = async (next: string) => {
    world.files.writeText("/n", next);
    world.change("/n");
    await settled();
  };
  return { thing, world, write, changes: () => changes };
}

function settled() {
  return new Promise((resolve) => setTimeout(resolve));
}

Deno.test("watchFiles(): a new value is in force; an unusable one is logged and keeps the previous one", async () => {
  const { thing, world, write, changes } = await kept("1");
  assert.deepEqual([thing.current(), thing.problem()], [1, undefined]);
  await write("two");
  assert.deepEqual([thing.current(), thing.problem()], [1, '"/n" is no number; write digits']);
  assert.match(
    world.said.stderr,
    /error webhook: Cannot use the new number, keeping the previous one: "\/n" is/,
  );
  await write("2");
  assert.deepEqual([thing.current(), thing.problem(), changes()], [2, undefined, 2]);
  assert.match(world.said.stderr, /info webhook: The new number is in force\n$/);
});

Deno.test("watchFiles(): a problem is logged once for each change", async () => {
  const { world, write } = await kept("1");
  await write("two");
  await write("three");
  assert.equal(world.said.stderr.match(/Cannot use/g)?.length, 2);
});

Deno.test("watchFiles(): an unusable first value is an error", async () => {
  await assert.rejects(kept("one"), { name: "MeshError", message: '"/n" is no number' });
});

Deno.test("watchFiles(): close() stops watching", async () => {
  const { thing, write, changes } = await kept("1");
  thing.close();
  await write("2");
  assert.deepEqual([thing.current(), changes()], [1, 0]);
});

Deno.test("watchFiles(): changes during a read cause one more read, and reads do not overlap", async () => {
  const world = fakeWorld({ files: { "/n": "" } });
  let [running, most, readings] = [0, 0, 0];
  const make = async () => {
    most = Math.max(most, ++running);
    await settled();
    running--;
    return ++readings;
  };
  const thing = await watchFiles(world.files, startLog(world, "webhook"), { name: "number", paths: ["/n"], make });
  for (let time = 0; time < 5; time++) world.change("/n");
  for (let time = 0; time < 5; time++) await settled();
  assert.deepEqual([thing.current(), most], [3, 1]);
});
