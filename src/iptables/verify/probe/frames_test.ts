import assert from "node:assert/strict";
import { parseAddress } from "../../../golang/net/mod.ts";
import { checksum, frameOf, type Segment, segmentOf, TCP_FLAGS } from "./frames.ts";

const FROM = Uint8Array.of(2, 0, 0, 0, 0, 1);
const TO = Uint8Array.of(2, 0, 0, 0, 0, 2);

function segment(source: string, destination: string): Segment {
  const [from, to] = [parseAddress(source), parseAddress(destination)];
  assert.ok(typeof from !== "string" && typeof to !== "string");
  return {
    source: { address: from, port: 61000 },
    destination: { address: to, port: 80 },
    flags: TCP_FLAGS.syn,
    sequence: 0xfffffff0,
    acknowledgement: 7,
  };
}

for (const [source, destination] of [["192.0.2.1", "10.1.1.1"], ["2001:db8::1", "fd00::7"]] as const) {
  Deno.test(`segmentOf() reads what frameOf() writes from ${source}`, () => {
    const sent = segment(source, destination);
    assert.deepEqual(segmentOf(frameOf(sent, FROM, TO)), sent);
  });
}

Deno.test("frameOf(): header and segment have checksums that sum up to zero", () => {
  const frame = frameOf({ ...segment("192.0.2.1", "10.1.1.1"), data: Uint8Array.of(1, 2, 3) }, FROM, TO);
  assert.deepEqual([...frame.subarray(0, 14)], [...TO, ...FROM, 8, 0]);
  assert.equal(checksum(frame.subarray(14, 34)), 0);
  const tcp = frame.subarray(34);
  assert.equal(tcp.length, 23);
  assert.equal(checksum(Uint8Array.of(192, 0, 2, 1, 10, 1, 1, 1, 0, 6, 0, tcp.length, ...tcp)), 0);
});

Deno.test("checksum() of the example of RFC 1071", () => {
  assert.equal(checksum(Uint8Array.of(0x00, 0x01, 0xf2, 0x03, 0xf4, 0xf5, 0xf6, 0xf7)), ~0xddf2 & 0xffff);
});

Deno.test("segmentOf() ignores other frames", () => {
  const frame = frameOf(segment("192.0.2.1", "10.1.1.1"), FROM, TO);
  for (const bytes of [new Uint8Array(), frame.subarray(0, 30), frame.with(12, 0x88), frame.with(23, 17)]) {
    assert.equal(segmentOf(bytes), undefined);
  }
});
