import assert from "node:assert/strict";
import { fc } from "../../../test/support/properties.ts";
import { encodeFrame, FrameReader, KINDS } from "./frames.ts";

const frame = fc.record({
  kind: fc.constantFrom(...KINDS),
  id: fc.integer({ min: 0, max: 2 ** 32 - 1 }),
  head: fc.string({ unit: "grapheme" }),
  body: fc.uint8Array({ maxLength: 300 }),
});

Deno.test("messages survive every split of the bytes", () => {
  fc.assert(fc.property(fc.array(frame, { maxLength: 5 }), fc.array(fc.nat(40), { maxLength: 30 }), (frames, cuts) => {
    const bytes = Uint8Array.from(frames.flatMap((each) => [...encodeFrame(each)]));
    const reader = new FrameReader();
    const read = [];
    let at = 0;
    for (const cut of [...cuts, bytes.length]) {
      read.push(...reader.push(bytes.slice(at, at + cut)).map((each) => ({ ...each, body: [...each.body] })));
      at += cut;
    }
    assert.deepEqual(read, frames.map((each) => ({ ...each, head: each.head.toWellFormed(), body: [...each.body] })));
  }));
});

Deno.test("an invalid message is an error", () => {
  const bytes = encodeFrame({ kind: "ready" });
  bytes[4] = 99;
  assert.throws(() => new FrameReader().push(bytes), /there is no message of kind 99/);
});
