import assert from "node:assert/strict";
import { fc } from "../../../test/support/properties.ts";
import { joinBytes } from "../../base/bytes.ts";
import { encodeFrame, FrameError, FrameReader, frames } from "./frames.ts";

Deno.test("encodeFrame: the compression byte, the length, the message", () => {
  assert.deepEqual(encodeFrame(Uint8Array.of(7, 8)), Uint8Array.of(0, 0, 0, 0, 2, 7, 8));
});

Deno.test("FrameReader returns the messages, however the bytes are split", () => {
  const messages = fc.array(fc.uint8Array({ maxLength: 40 }), { maxLength: 8 });
  fc.assert(fc.property(messages, fc.array(fc.nat(60)), (messages, cuts) => {
    const all = joinBytes(messages.map(encodeFrame));
    const places = [0, ...cuts.map((cut) => Math.min(cut, all.length)).sort((a, b) => a - b), all.length];
    const reader = new FrameReader();
    const read = places.slice(1).flatMap((end, at) => [...reader.push(all.subarray(places[at], end))]);
    assert.deepEqual(read, messages);
    assert.equal(reader.isWithin, false);
  }));
});

Deno.test("FrameReader rejects a compressed or too large message by its head", () => {
  assert.throws(() => [...new FrameReader().push(Uint8Array.of(1, 0, 0, 0, 0))], FrameError);
  assert.throws(() => [...new FrameReader(4).push(Uint8Array.of(0, 0, 0, 0, 5))], FrameError);
  assert.deepEqual([...new FrameReader(4).push(Uint8Array.of(0, 0, 0, 0, 4))], []);
});

Deno.test("frames: yields the messages of a body, and rejects a body that ends within a message", async () => {
  const body = new Response(Uint8Array.of(0, 0, 0, 0, 1, 9, 0, 0)).body;
  const read: Uint8Array[] = [];
  await assert.rejects(async () => {
    for await (const message of frames(body ?? new ReadableStream())) read.push(message);
  }, FrameError);
  assert.deepEqual(read, [Uint8Array.of(9)]);
});
