import assert from "node:assert/strict";
import type { ByteConnection } from "./connection.ts";
import { splice } from "./splice.ts";

/** A connection whose other end is the test. */
class End implements ByteConnection {
  readonly written: number[] = [];
  closes = 0;
  /** How many bytes a write takes; 0: it waits until `open()`. */
  takes = Infinity;
  #reads: (Uint8Array | null | Error)[] = [];
  #waiting: (() => void)[] = [];
  asked = 0;

  come(...pieces: (Uint8Array | null | Error)[]): void {
    this.#reads.push(...pieces);
    this.#wake();
  }

  open(): void {
    this.takes = Infinity;
    this.#wake();
  }

  async read(buffer: Uint8Array): Promise<number | null> {
    this.asked++;
    const piece = await this.#until(() => this.#reads.shift());
    if (piece instanceof Error) throw piece;
    if (piece === null) return null;
    buffer.set(piece);
    return piece.length;
  }

  async write(bytes: Uint8Array): Promise<number> {
    const count = await this.#until(() => this.takes > 0 ? Math.min(bytes.length, this.takes) : undefined);
    this.written.push(...bytes.subarray(0, count));
    return count;
  }

  close(): void {
    this.closes++;
    this.#wake();
  }

  #wake(): void {
    for (const wake of this.#waiting.splice(0)) wake();
  }

  async #until<T>(look: () => T | undefined): Promise<T> {
    for (;;) {
      const found = look();
      if (found !== undefined) return found;
      if (this.closes > 0) throw new Error("closed");
      await new Promise<void>((resolve) => this.#waiting.push(resolve));
    }
  }
}

const settle = () => new Promise((resolve) => setTimeout(resolve, 0));

Deno.test("splice() copies both ways, also in partial writes", async () => {
  const [one, other] = [new End(), new End()];
  other.takes = 2;
  one.come(Uint8Array.of(1, 2, 3, 4, 5), null);
  other.come(Uint8Array.of(6, 7));
  assert.deepEqual(await splice(one, other), { side: "one", error: undefined });
  assert.deepEqual([other.written, one.written], [[1, 2, 3, 4, 5], [6, 7]]);
  assert.ok(one.closes > 0 && other.closes > 0);
});

Deno.test("splice() stops reading while the other side does not read", async () => {
  const [one, other] = [new End(), new End()];
  other.takes = 0;
  one.come(Uint8Array.of(1), Uint8Array.of(2), null);
  const spliced = splice(one, other);
  await settle();
  assert.equal(one.asked, 1);
  other.open();
  await spliced;
  assert.deepEqual(other.written, [1, 2]);
});

Deno.test("splice() ends when a side breaks, and reports the side and the error", async () => {
  for (const [side, broken] of [["one", 0], ["other", 1]] as const) {
    const ends = [new End(), new End()] as const;
    const error = new Error("reset");
    ends[broken].come(error);
    assert.deepEqual(await splice(...ends), { side, error });
    assert.ok(ends.every(({ closes }) => closes > 0));
  }
});
