import assert from "node:assert/strict";
import { encodeFrame, frames } from "../grpc/frames.ts";
import { rewritten } from "./rewriting.ts";

const bytesOf = (text: string) => new TextEncoder().encode(text);

Deno.test("rewritten: changed messages keep their order, and others do not wait for them", async () => {
  const slow = Promise.withResolvers<void>();
  const body = ReadableStream.from(["change 1", "a", "change 2", "b"].map((text) => encodeFrame(bytesOf(text))));
  const problems: string[] = [];
  const answer = rewritten(body.pipeThrough(new TransformStream({ flush: () => slow.promise })), {
    isChanged: (message) => message[0] === 0x63,
    async change(message) {
      await slow.promise;
      return bytesOf(`${new TextDecoder().decode(message)} done`);
    },
    failed: (problem) => problems.push(problem),
  });
  const seen: string[] = [];
  for await (const message of frames(answer)) {
    seen.push(new TextDecoder().decode(message));
    if (seen.length === 2) slow.resolve();
  }
  assert.deepEqual(seen.slice(0, 2), ["a", "b"]);
  assert.deepEqual(seen.slice(2), ["change 1 done", "change 2 done"].slice(0, seen.length - 2));
  assert.deepEqual(problems, []);
});

Deno.test("rewritten: a message that cannot be changed passes unchanged", async () => {
  const problems: string[] = [];
  const body = new Blob([encodeFrame(bytesOf("a"))]).stream();
  const answer = rewritten(body, {
    isChanged() {
      throw new Error("no message");
    },
    change: (message) => Promise.resolve(message),
    failed: (problem) => problems.push(problem),
  });
  const seen = await Array.fromAsync(frames(answer), (message) => new TextDecoder().decode(message));
  assert.deepEqual([seen, problems], [["a"], ["no message"]]);
});

Deno.test("rewritten: a compressed message ends the answer, and the sender is cancelled", async () => {
  let cancelled: unknown;
  const body = new ReadableStream({
    pull: (controller) => controller.enqueue(new Uint8Array([1, 0, 0, 0, 0])),
    cancel: (reason) => void (cancelled = reason),
  });
  const answer = rewritten(body, {
    isChanged: () => false,
    change: (message) => Promise.resolve(message),
    failed: assert.fail,
  });
  await assert.rejects(Array.fromAsync(answer), /is compressed/);
  assert.match(String(cancelled), /is compressed/);
});
