import assert from "node:assert/strict";
import { Frame } from "./frame.ts";

Deno.test("Frame: an inner variable hides the outer one until its block ends", () => {
  const frame = new Frame();
  const outer = frame.declare("$a");
  frame.scoped(() => {
    const inner = frame.declare("$a");
    assert.equal(frame.find("$a")?.slot, inner);
  });
  assert.equal(frame.find("$a")?.slot, outer);
});

Deno.test("Frame: a block that is compiled later sees what was declared before it", () => {
  const frame = new Frame();
  const first = frame.declare("$a");
  const found = frame.later(() => [frame.find("$a")?.slot, frame.find("$b")?.slot, frame.declare("$c")]);
  frame.declare("$a");
  frame.declare("$b");
  const [a, b, own] = found();
  assert.deepEqual([a, b], [first, undefined]);
  assert.equal(own, frame.size - 1);
  assert.equal(frame.find("$c"), undefined);
});

Deno.test("Frame: a name that is declared a hundred thousand times is found at once", () => {
  const frame = new Frame();
  const blocks = Array.from({ length: 100_000 }, () => {
    const slot = frame.declare("$a");
    return { slot, found: frame.later(() => frame.find("$a")?.slot) };
  });
  for (const { slot, found } of blocks) assert.equal(found(), slot);
});
