import assert from "node:assert/strict";
import { type FakeWorld, fakeWorld } from "../../../test/support/fake_world.ts";
import { openOutput, outputIn, outputTarget } from "./output.ts";

function open(world: FakeWorld, output: string, keepGoing = false) {
  return openOutput(world, outputTarget(output), keepGoing);
}

Deno.test("openOutput() writes to standard output for a format, - and /dev/stdout", async () => {
  for (const [given, format] of [["yaml", "yaml"], ["json", "json"], ["-", "yaml"], ["/dev/stdout", "yaml"]] as const) {
    const world = fakeWorld();
    const output = await open(world, given);
    output.write("a");
    output.commit();
    assert.deepEqual([outputTarget(given), world.said.stdout], [{ format, file: undefined }, "a"]);
  }
});

Deno.test("openOutput() writes a file on commit, in the format of its extension", async () => {
  const world = fakeWorld({ files: { "out.json": "old" } });
  const output = await open(world, "out.json");
  output.write("new");
  assert.equal(new TextDecoder().decode(world.content.get("out.json")), "old");
  output.commit();
  assert.equal(outputTarget("out.json").format, "json");
  assert.equal(new TextDecoder().decode(world.content.get("out.json")), "new");
});

Deno.test("openOutput() without commit leaves a file unchanged, and standard output empty", async () => {
  const world = fakeWorld({ files: { "out.yaml": "old" } });
  for (const name of ["out.yaml", "yaml"]) {
    using output = await open(world, name);
    output.write("new");
  }
  assert.equal(new TextDecoder().decode(world.content.get("out.yaml")), "old");
  assert.equal(world.said.stdout, "");
});

Deno.test("openOutput() holds standard output until commit, unless the user keeps going", async () => {
  const large = "x".repeat(100_000);
  for (const [keepGoing, early] of [[false, ""], [true, large]] as const) {
    const world = fakeWorld();
    const output = await open(world, "yaml", keepGoing);
    output.write(large);
    assert.equal(world.said.stdout, early);
    output.commit();
    assert.equal(world.said.stdout, large);
  }
});

Deno.test("outputTarget() refuses the other formats of kubectl, which would become files", () => {
  const words = ["name", "wide", "JSON", "Yaml", "yml", "jsonpath={.items}", "jsonpath", "go-template={{.x}}", "kyaml"];
  for (const word of [...words, "custom-columns=A:.a", "jsonpath-file=x", "templatefile=x"]) {
    assert.throws(() => outputTarget(word), {
      message: `The output cannot be "${word}"`,
      exitCode: 2,
    });
  }
  assert.throws(() => outputTarget("jsno"), { hint: '"./jsno" is a file; did you mean "json"?' });
  assert.throws(() => outputTarget("out"), {
    hint: '-o accepts yaml, json, a file name, or a folder name with a trailing /; "./out" is a file',
  });
  for (const file of ["./wide", "name.yaml", "wide/x"]) assert.equal(outputTarget(file).file, file);
});

Deno.test("openOutput() refuses a directory and an empty name", async () => {
  const world = fakeWorld({ files: { "dir/x": "", "/tmp/dir/x": "" } });
  const message = 'Cannot write "/tmp/dir": it is a directory';
  await assert.rejects(open(world, "/tmp/dir"), { message, exitCode: 1 });
  assert.deepEqual(await outputIn(world, "dir"), { format: "yaml", file: undefined, folder: "dir" });
  await assert.rejects(outputIn(world, "other"), { exitCode: 2 });
  assert.throws(() => outputTarget(""), { exitCode: 2 });
});

Deno.test("openOutput() reports a signal until it ends", async () => {
  for (const [signal, exitCode] of [["SIGINT", 130], ["SIGTERM", 143]] as const) {
    const world = fakeWorld();
    using output = await open(world, "out.yaml");
    world.raise(signal);
    await assert.rejects(output.interrupted, { message: 'Interrupted: "out.yaml" is not written', exitCode });
  }
  const world = fakeWorld();
  const output = await open(world, "yaml");
  output.commit();
  world.raise("SIGINT");
  assert.equal(
    await Promise.race([output.interrupted.catch(() => "interrupted"), Promise.resolve("not interrupted")]),
    "not interrupted",
  );
});
