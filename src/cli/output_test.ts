import assert from "node:assert/strict";
import { fakeWorld } from "../core/world/mod.ts";
import { openOutput } from "./output.ts";

Deno.test("openOutput() writes to standard output for a format, - and /dev/stdout", async () => {
  for (const [given, format] of [["yaml", "yaml"], ["json", "json"], ["-", "yaml"], ["/dev/stdout", "yaml"]] as const) {
    const world = fakeWorld();
    const output = await openOutput(world, given);
    output.write("a");
    output.commit();
    assert.deepEqual([output.format, output.file, world.said.stdout], [format, undefined, "a"]);
  }
});

Deno.test("openOutput() puts a file in place on commit, in the format of its ending", async () => {
  const world = fakeWorld({ files: { "out.json": "old" } });
  const output = await openOutput(world, "out.json");
  output.write("new");
  assert.equal(new TextDecoder().decode(world.content.get("out.json")), "old");
  output.commit();
  assert.equal(output.format, "json");
  assert.equal(new TextDecoder().decode(world.content.get("out.json")), "new");
});

Deno.test("openOutput() leaves a file as it was on abort, but shows what standard output got", async () => {
  const world = fakeWorld({ files: { "out.yaml": "old" } });
  for (const name of ["out.yaml", "yaml"]) {
    const output = await openOutput(world, name);
    output.write("new");
    output.abort();
  }
  assert.equal(new TextDecoder().decode(world.content.get("out.yaml")), "old");
  assert.equal(world.said.stdout, "new");
});

Deno.test("openOutput() refuses a directory and an empty name", async () => {
  const world = fakeWorld({ files: { "dir/x": "" } });
  await assert.rejects(openOutput(world, "dir"), { message: 'Cannot write "dir": it is a directory', exitCode: 1 });
  await assert.rejects(openOutput(world, ""), { exitCode: 2 });
});

Deno.test("openOutput() tells of a signal until it is ended", async () => {
  for (const [signal, exitCode] of [["SIGINT", 130], ["SIGTERM", 143]] as const) {
    const world = fakeWorld();
    const output = await openOutput(world, "out.yaml");
    world.raise(signal);
    await assert.rejects(output.interrupted, { message: 'Interrupted: "out.yaml" is not written', exitCode });
    output.abort();
  }
  const world = fakeWorld();
  const output = await openOutput(world, "yaml");
  output.commit();
  world.raise("SIGINT");
  assert.equal(await Promise.race([output.interrupted.catch(() => "told"), Promise.resolve("not told")]), "not told");
});
