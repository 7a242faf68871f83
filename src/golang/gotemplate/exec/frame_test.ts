import assert from "node:assert/strict";
import { Frame } from "./frame.ts";

Deno.test("Frame: a block's variables end with it, and their slots are not used again", () => {
  const frame = new Frame();
  const inner = frame.scoped(() => frame.declare("$"));
  assert.deepEqual([inner, frame.find("$"), frame.declare("x"), frame.size], [1, 0, 2, 3]);
});

Deno.test("Frame: a name that is declared a hundred thousand times is found at once", () => {
  const frame = new Frame();
  for (let i = 0; i < 100_000; i++) {
    frame.declare("x");
    assert.equal(frame.find("x"), i + 1);
  }
});
