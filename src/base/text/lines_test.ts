import assert from "node:assert/strict";
import { linesOf } from "./lines.ts";

async function* bytes(...parts: readonly string[]) {
  for (const part of parts) yield await Promise.resolve(new TextEncoder().encode(part));
}

Deno.test("linesOf() joins chunks, also within a character", async () => {
  const [first = 0, ...rest] = new TextEncoder().encode("é\n");
  async function* cut() {
    yield* bytes("a", "b\nc\n\nd");
    yield Uint8Array.of(first);
    yield Uint8Array.from(rest);
    yield* bytes("last");
  }
  assert.deepEqual(await Array.fromAsync(linesOf(cut())), ["ab", "c", "", "dé", "last"]);
});

Deno.test("linesOf() splits a line without end", async () => {
  const lines = await Array.fromAsync(linesOf(bytes(...Array.from({ length: 100 }, () => "x".repeat(10_000)))));
  assert.ok(lines.every((line) => line.length < 80_000));
  assert.equal(lines.join("").length, 1_000_000);
});
