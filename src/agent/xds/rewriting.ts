/**
 * Changes certain messages of a response body. Other messages do not wait for a pending change, and may overtake the
 * message that is being changed.
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
  /** Resolves after the last change. Each change waits for this promise, so that changed messages stay in order. */
  let changing = Promise.resolve();
  function isToChange(message: Uint8Array): boolean {
    try {
      return rewriting.isChanged(message);
    } catch (error) {
      rewriting.failed(messageOf(error));
      return false;
    }
  }
  async function changed(message: Uint8Array): Promise<Uint8Array> {
    try {
      return await rewriting.change(message);
    } catch (error) {
      rewriting.failed(messageOf(error));
      return message;
    }
  }
  return inner.pipeThrough(
    new TransformStream<Bytes, Bytes>({
      transform(bytes, controller) {
        for (const message of frames.push(bytes)) {
          if (!isToChange(message)) {
            controller.enqueue(encodeFrame(message));
            continue;
          }
          // The reader may be gone when the change is ready.
          changing = changing.then(async () => controller.enqueue(encodeFrame(await changed(message)))).catch(() => {});
        }
      },
      flush: () => changing,
    }),
  );
}
