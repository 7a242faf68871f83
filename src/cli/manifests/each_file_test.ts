import assert from "node:assert/strict";
import { UsageError } from "../../base/errors.ts";
import { fakeWorld } from "../../../test/support/fake_world.ts";
import { HeldFiles, IN_PLACE, inFolder } from "./each_file.ts";

const input = (file: string, name?: string) => ({ file, ...name === undefined ? {} : { name }, chunks: none });

async function* none(): AsyncIterable<Uint8Array> {}

Deno.test("HeldFiles writes the wanted files, empty ones too", async () => {
  const world = fakeWorld();
  const held = new HeldFiles();
  for (const [path, ...texts] of [["a", "1", "x".repeat(100)], ["b"], ["c", "é"], ["d", "no"], ["e"]]) {
    held.begin(path ?? "");
    for (const text of texts) held.write(text);
  }
  assert.deepEqual(await held.commit(world, (path) => path !== "d"), ["a", "b", "c", "e"]);
  const text = (path: string) => world.files.readText(path);
  assert.equal((await text("a")).length, 101);
  assert.deepEqual(await Promise.all(["b", "c", "e"].map(text)), ["", "é", ""]);
  assert.equal(await world.files.stat("d"), undefined);
});

Deno.test("in place every file is its own output; standard input has none", () => {
  assert.equal(IN_PLACE.of(input("x/web.yaml", "web.yaml")), "x/web.yaml");
  assert.throws(() => IN_PLACE.of(input("standard input")), UsageError);
});

Deno.test("in a folder outputs have the names of the inputs, and no two the same", () => {
  const places = inFolder("out");
  assert.equal(places.of(input("a/web.yaml", "web.yaml")), "out/web.yaml");
  assert.equal(places.of(input("a/b/web.yaml", "b/web.yaml")), "out/b/web.yaml");
  assert.throws(() => places.of(input("c/web.yaml", "web.yaml")), /"a\/web.yaml" and "c\/web.yaml" would both/);
  assert.throws(() => places.of(input("standard input")), /has no name in "out\/"/);
});
