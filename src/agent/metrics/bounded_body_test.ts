import assert from "node:assert/strict";
import { readBounded, withoutEndMark } from "./bounded_body.ts";

const encode = (text: string) => new TextEncoder().encode(text);

function stripped(...texts: string[]): string {
  return withoutEndMark(texts.map(encode)).map((piece) => new TextDecoder().decode(piece)).join("");
}

Deno.test("withoutEndMark() removes the mark and the white space after it", () => {
  assert.equal(stripped("a 1\n# EOF\n"), "a 1\n");
  assert.equal(stripped("a 1\n# EOF"), "a 1\n");
  assert.equal(stripped("a 1\r\n# EOF\r\n \t"), "a 1\r\n");
  assert.equal(stripped("a 1\n", "# E", "O", "F\n"), "a 1\n");
  assert.equal(stripped("# EOF\n"), "");
});

Deno.test("withoutEndMark() leaves other texts unchanged", () => {
  for (const text of ["", "a 1\n", "a 1\n# EOF\nb 2\n", "x".repeat(1000)]) {
    assert.equal(stripped(text), text);
  }
});

function bodyOf(...sizes: number[]) {
  let cancelled = false;
  const stream = new ReadableStream<Uint8Array>({
    pull(controller) {
      const size = sizes.shift();
      if (size === undefined) controller.close();
      else controller.enqueue(new Uint8Array(size));
    },
    cancel: () => void (cancelled = true),
  });
  return { reader: stream.getReader(), isCancelled: () => cancelled };
}

Deno.test("readBounded() reads up to the limit, then stops", async () => {
  const whole = await readBounded(bodyOf(4, 6).reader, 10);
  assert.deepEqual(whole?.map(({ length }) => length), [4, 6]);
  const large = bodyOf(4, 7, 100);
  assert.equal(await readBounded(large.reader, 10), undefined);
  assert.equal(large.isCancelled(), true);
});
