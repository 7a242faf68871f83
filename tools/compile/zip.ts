import { inflateRawSync } from "node:zlib";

const END_OF_DIRECTORY = 0x06054b50;
const DIRECTORY_ENTRY = 0x02014b50;
const DEFLATED = 8;

/**
 * Returns the content of the first file in a zip archive whose name ends in `suffix`; `undefined` if there is none.
 * Supports stored and deflated files smaller than 4 GiB. Source: PKWARE APPNOTE 4.3.
 */
export function unzipFile(zip: Uint8Array, suffix: string): Uint8Array | undefined {
  const view = new DataView(zip.buffer, zip.byteOffset, zip.byteLength);
  const end = endOfDirectory(view);
  let at = view.getUint32(end + 16, true);
  for (let left = view.getUint16(end + 10, true); left > 0; left--) {
    if (view.getUint32(at, true) !== DIRECTORY_ENTRY) throw new Error("The zip archive's directory is damaged");
    const nameLength = view.getUint16(at + 28, true);
    const name = new TextDecoder().decode(zip.subarray(at + 46, at + 46 + nameLength));
    if (name.endsWith(suffix)) return content(zip, view, at);
    at += 46 + nameLength + view.getUint16(at + 30, true) + view.getUint16(at + 32, true);
  }
  return undefined;
}

/** Searches for the end record backwards, because a comment may follow it. */
function endOfDirectory(view: DataView): number {
  for (let at = view.byteLength - 22; at >= 0; at--) {
    if (view.getUint32(at, true) === END_OF_DIRECTORY) return at;
  }
  throw new Error("Not a zip archive");
}

function content(zip: Uint8Array, view: DataView, entry: number): Uint8Array {
  const size = view.getUint32(entry + 20, true);
  const local = view.getUint32(entry + 42, true);
  const start = local + 30 + view.getUint16(local + 26, true) + view.getUint16(local + 28, true);
  const data = zip.subarray(start, start + size);
  return view.getUint16(entry + 10, true) === DEFLATED ? inflateRawSync(data) : data;
}
