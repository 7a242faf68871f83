import assert from "node:assert/strict";
import { encodeFrame } from "../grpc/frames.ts";
import { BodyCounter, ConnectionCounter, PREFACE_LENGTH } from "./message_counter.ts";

const DATA = 0;
const HEADERS = 1;
const PADDED = 8;

function frame(type: number, stream: number, payload: readonly number[], flags = 0): number[] {
  return [0, payload.length >> 8, payload.length & 255, type, flags, 0, 0, 0, stream, ...payload];
}

const message = (length: number) => [...encodeFrame(new Uint8Array(length).fill(1))];

/** The sum, in pieces of this size. */
function inPieces(counter: BodyCounter | ConnectionCounter, bytes: readonly number[], size: number): number {
  let sum = 0;
  for (let at = 0; at < bytes.length; at += size) sum += counter.count(Uint8Array.from(bytes.slice(at, at + size)));
  return sum;
}

const SIZES = [1, 2, 3, 7, 9, 16, 1000];

Deno.test("BodyCounter counts messages, also empty ones, in pieces of any size", () => {
  const bytes = [...message(0), ...message(300), ...message(1), ...message(0)];
  for (const size of SIZES) assert.equal(inPieces(new BodyCounter(), bytes, size), 4, `pieces of ${size}`);
});

Deno.test("ConnectionCounter counts the messages of all streams, in frames and pieces of any size", () => {
  const long = message(300);
  const bytes = [
    ...new Array<number>(PREFACE_LENGTH).fill(0x50),
    ...frame(4, 0, [0, 1, 0, 0, 0, 0]),
    ...frame(HEADERS, 1, [1, 2, 3], 4),
    ...frame(DATA, 1, long.slice(0, 3)),
    // Another stream between the parts of a message.
    ...frame(DATA, 3, [...message(2), ...message(3)]),
    ...frame(DATA, 1, long.slice(3, 100)),
    ...frame(8, 1, [0, 0, 1, 0]),
    ...frame(DATA, 1, long.slice(100)),
    ...frame(DATA, 1, [2, ...message(4), 0, 0], PADDED),
    ...frame(DATA, 1, [0, ...message(0)], PADDED),
    ...frame(DATA, 1, [3, 0, 0, 0], PADDED),
    ...frame(DATA, 1, [], 1),
    ...frame(DATA, 3, message(0)),
  ];
  for (const size of SIZES) {
    assert.equal(inPieces(new ConnectionCounter(PREFACE_LENGTH), bytes, size), 6, `pieces of ${size}`);
  }
});
