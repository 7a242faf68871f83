/** HTTP/2 as an attacker writes it: frames without a library, headers as literals without Huffman codes. */

const PREFACE = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";
const FRAME = { headers: 1, settings: 4 } as const;
const END_HEADERS = 4;
const INITIAL_WINDOW_SIZE = 4;

/** The start of a connection; `window` is the initial window of its streams. */
export function prefaceOf(window: number): Uint8Array<ArrayBuffer> {
  const setting = new DataView(new ArrayBuffer(6));
  setting.setUint16(0, INITIAL_WINDOW_SIZE);
  setting.setUint32(2, window);
  return joined([new TextEncoder().encode(PREFACE), frame(FRAME.settings, 0, 0, new Uint8Array(setting.buffer))]);
}

/** The head of a review whose body does not follow. */
export function reviewHead(stream: number, length: number): Uint8Array<ArrayBuffer> {
  const fields = {
    ":method": "POST",
    ":scheme": "https",
    ":authority": "a",
    ":path": "/inject",
    "content-type": "application/json",
    "content-length": String(length),
  };
  return frame(FRAME.headers, END_HEADERS, stream, joined(Object.entries(fields).flat().map(literal), true));
}

/** Texts of at most 126 bytes. */
function literal(text: string): Uint8Array<ArrayBuffer> {
  return Uint8Array.of(text.length, ...new TextEncoder().encode(text));
}

/** With `isBlock` a literal field without indexing begins before each second piece. */
function joined(pieces: readonly Uint8Array[], isBlock = false): Uint8Array<ArrayBuffer> {
  return Uint8Array.from(pieces.flatMap((piece, at) => isBlock && at % 2 === 0 ? [0, ...piece] : [...piece]));
}

function frame(kind: number, flags: number, stream: number, content: Uint8Array): Uint8Array<ArrayBuffer> {
  const head = new DataView(new ArrayBuffer(9));
  head.setUint8(0, content.length >> 16);
  head.setUint16(1, content.length & 0xffff);
  head.setUint8(3, kind);
  head.setUint8(4, flags);
  head.setUint32(5, stream);
  return joined([new Uint8Array(head.buffer), content]);
}
