import assert from "node:assert/strict";
import { realWorld } from "../../platform/mod.ts";
import { holdOutput } from "./held_output.ts";

const encoder = new TextEncoder();

for (const [name, most, usesFile] of [["in memory", 100, false], ["in a file", 5, true]] as const) {
  Deno.test(`holdOutput() holds ${name} and releases all in order`, () => {
    let opened = 0;
    const held = holdOutput(() => (opened++, realWorld().files.scratch()), most);
    for (const part of ["one ", "two ", "three ", "four"]) held.add(encoder.encode(part));
    let text = "";
    held.release((bytes) => text += new TextDecoder().decode(bytes));
    held.drop();
    assert.deepEqual([text, opened], ["one two three four", usesFile ? 1 : 0]);
  });
}

Deno.test("holdOutput() throws the reason if memory is full and no file can be opened", () => {
  const held = holdOutput(() => assert.fail("no space"), 3, 4);
  held.add(encoder.encode("four"));
  assert.throws(() => held.add(encoder.encode("5")), { message: "no space" });
});
