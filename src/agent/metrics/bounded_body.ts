/** Bodies that are held in memory, up to a limit. */

/** The pieces of a body; `undefined` if it is larger than the limit, and then the rest is not waited for. */
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
/** White space after the mark does not count, but a body that ends with more of it than this is left as it is. */
const TAIL = 64;

/** Takes the mark that ends a body of OpenMetrics off its pieces: others follow. */
export function withoutEndMark(pieces: readonly Uint8Array[]): Uint8Array[] {
  const kept = [...pieces];
  const tail = takeTail(kept);
  const text = new TextDecoder("latin1").decode(tail).trimEnd();
  const left = text.endsWith(END_MARK) ? text.length - END_MARK.length : tail.length;
  return [...kept, tail.subarray(0, left)].filter((piece) => piece.length > 0);
}

/** The last bytes of the pieces, which are taken off. */
function takeTail(pieces: Uint8Array[]): Uint8Array {
  let tail = new Uint8Array(0);
  while (tail.length < TAIL) {
    const last = pieces.pop();
    if (last === undefined) break;
    const joined = new Uint8Array(last.length + tail.length);
    joined.set(last);
    joined.set(tail, last.length);
    tail = joined;
  }
  return tail;
}
