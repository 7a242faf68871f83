/** Unpacks modules from gzip and tar. */
import { MeshError } from "../../base/errors.ts";

/** Maximum size of a module in bytes, as in Istio. */
export const MAX_MODULE = 256 * 1024 * 1024;

/** Collects a body in memory. Rejects with a MeshError if the body is larger than the limit. */
export async function readAll(
  body: AsyncIterable<Uint8Array>,
  limit = MAX_MODULE,
): Promise<Uint8Array<ArrayBuffer>> {
  const pieces: Uint8Array[] = [];
  let size = 0;
  for await (const piece of body) {
    size += piece.length;
    if (size > limit) throw new MeshError(`The response has more than ${limit} bytes`);
    pieces.push(piece);
  }
  const all = new Uint8Array(size);
  let at = 0;
  for (const piece of pieces) {
    all.set(piece, at);
    at += piece.length;
  }
  return all;
}

/** Returns the SHA-256 of bytes, in hex. */
export async function sha256Of(bytes: Uint8Array<ArrayBuffer>): Promise<string> {
  return new Uint8Array(await crypto.subtle.digest("SHA-256", bytes)).toHex();
}

const MAGIC = [0, 0x61, 0x73, 0x6d];
const HEAD = 8;

export function isModule(bytes: Uint8Array): boolean {
  return bytes.length >= HEAD && MAGIC.every((byte, index) => bytes[index] === byte);
}

function isGzip(bytes: Uint8Array): boolean {
  return bytes[0] === 0x1f && bytes[1] === 0x8b;
}

export async function gunzip(bytes: Uint8Array<ArrayBuffer>): Promise<Uint8Array<ArrayBuffer>> {
  return await readAll(new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip")));
}

const BLOCK = 512;

/** Yields the files of a tar archive, with their names. */
export function* filesOfTar(bytes: Uint8Array<ArrayBuffer>): Generator<readonly [string, Uint8Array<ArrayBuffer>]> {
  const text = (start: number, length: number) =>
    new TextDecoder().decode(bytes.subarray(start, start + length)).replace(/\0.*$/s, "");
  for (let at = 0; at + BLOCK <= bytes.length && bytes[at] !== 0;) {
    const size = parseInt(text(at + 124, 12).trim() || "0", 8);
    if (!(size >= 0)) throw new MeshError("The tar archive is damaged");
    const start = at + BLOCK;
    if (start + size > bytes.length) throw new MeshError("The tar archive is cut off");
    const type = bytes[at + 156];
    if (type === 0 || type === 0x30) yield [text(at, 100), bytes.subarray(start, start + size)];
    at = start + Math.ceil(size / BLOCK) * BLOCK;
  }
}

function isTar(bytes: Uint8Array): boolean {
  return new TextDecoder().decode(bytes.subarray(257, 262)) === "ustar";
}

/** Returns the module in a file: unpacks gzip, and takes the first file of a tar archive. */
export async function unpacked(bytes: Uint8Array<ArrayBuffer>): Promise<Uint8Array<ArrayBuffer>> {
  let inner = bytes;
  for (let depth = 0; depth < 3 && !isModule(inner); depth++) {
    if (isGzip(inner)) inner = await gunzip(inner);
    else if (isTar(inner)) inner = filesOfTar(inner).next().value?.[1] ?? inner;
  }
  return inner;
}
