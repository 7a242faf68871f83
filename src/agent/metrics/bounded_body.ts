/** Reads bodies into memory, up to a limit. */
import { joinBytes } from "../../base/bytes.ts";

/** Reads a body. Returns `undefined` if the body exceeds the limit, and cancels the rest. */
export async function readBounded(
  body: ReadableStreamDefaultReader<Uint8Array>,
  maxBytes: number,
): Promise<Uint8Array[] | undefined> {
  const pieces: Uint8Array[] = [];
  let size = 0;
  for (let part = await body.read(); !part.done; part = await body.read()) {
    pieces.push(part.value);
    size += part.value.length;
    if (size > maxBytes) {
      await body.cancel();
      return undefined;
    }
  }
  return pieces;
}

const END_MARK = "# EOF";
/** Maximum length of trailing white space that is ignored, in bytes. */
const TAIL = 64;

/** Removes the end mark of OpenMetrics, so that more metrics can follow. */
export function withoutEndMark(pieces: readonly Uint8Array[]): Uint8Array[] {
  const kept = [...pieces];
  const tail = takeTail(kept);
  const text = new TextDecoder("latin1").decode(tail).trimEnd();
  const left = text.endsWith(END_MARK) ? text.length - END_MARK.length : tail.length;
  return [...kept, tail.subarray(0, left)].filter((piece) => piece.length > 0);
}

function takeTail(pieces: Uint8Array[]): Uint8Array {
  let tail: Uint8Array = new Uint8Array(0);
  while (tail.length < TAIL) {
    const last = pieces.pop();
    if (last === undefined) break;
    tail = joinBytes([last, tail]);
  }
  return tail;
}
