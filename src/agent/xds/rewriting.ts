/**
 * Changes certain messages of a response body. Other messages do not wait for a pending change, and may overtake it.
 */
import { messageOf } from "../../base/errors.ts";
import { encodeFrame, FrameReader } from "../grpc/frames.ts";

type Bytes = Uint8Array<ArrayBuffer>;

export interface Rewriting {
  /** Whether a message must be changed. Throws if the message cannot be read. */
  isChanged(message: Uint8Array): boolean;
  change(message: Uint8Array): Promise<Uint8Array>;
  /** Called if a message could not be changed, and passes unchanged. */
  failed(problem: string): void;
}

export function rewritten(inner: ReadableStream<Bytes>, rewriting: Rewriting): ReadableStream<Bytes> {
  const frames = new FrameReader();
  const reader = inner.getReader();
  const ready: Bytes[] = [];
  /** Changed messages stay in order. */
  let changing: Promise<void> | undefined;
  let reading: Promise<void> | undefined;
  let isDone = false;

  function take(message: Uint8Array): void {
    if (!isToChange(message)) return void ready.push(encodeFrame(message));
    const before = changing;
    const mine: Promise<void> = (before ?? Promise.resolve()).then(async () => {
      ready.push(encodeFrame(await changedOr(message)));
      if (changing === mine) changing = undefined;
    });
    changing = mine;
  }
  function isToChange(message: Uint8Array): boolean {
    try {
      return rewriting.isChanged(message);
    } catch (error) {
      rewriting.failed(messageOf(error));
      return false;
    }
  }
  async function changedOr(message: Uint8Array): Promise<Uint8Array> {
    try {
      return await rewriting.change(message);
    } catch (error) {
      rewriting.failed(messageOf(error));
      return message;
    }
  }
  async function read(): Promise<void> {
    const { value, done } = await reader.read();
    isDone = done;
    try {
      if (value !== undefined) { for (const message of frames.push(value)) take(message); }
    } catch (error) {
      // The messages cannot be parsed, so reading stops and the sender's connection must be closed.
      await reader.cancel(error);
      throw error;
    }
    reading = undefined;
  }
  return new ReadableStream({
    async pull(controller) {
      for (;;) {
        const next = ready.shift();
        if (next !== undefined) return controller.enqueue(next);
        if (isDone) return controller.close();
        reading ??= read();
        await Promise.race(changing === undefined ? [reading] : [reading, changing]);
      }
    },
    cancel: (reason) => reader.cancel(reason),
  }, { highWaterMark: 0 });
}
