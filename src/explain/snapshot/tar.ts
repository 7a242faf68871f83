/**
 * Reads and writes archives in ustar format (POSIX.1-1988). Supports only regular files with short names, for snapshots.
 * Reads archives as streams, so that a hostile archive cannot exhaust the memory.
 */
import { MeshError } from "../../base/errors.ts";

const BLOCK = 512;
const encoder = new TextEncoder();
const latin1 = new TextDecoder("latin1");

export interface TarFile {
  readonly name: string;
  readonly content: Uint8Array;
  /** File mode; 0600 by default. */
  readonly mode?: number;
}

/** Yields the bytes of an archive. `seconds` is the modification time of the files, since 1970. */
export function* tarBytes(files: Iterable<TarFile>, seconds: number): Generator<Uint8Array<ArrayBuffer>> {
  for (const file of files) yield* fileBytes(file, seconds);
  yield tarEnd();
}

/** Yields the bytes of one file of an archive. */
export function* fileBytes(
  { name, content, mode = 0o600 }: TarFile,
  seconds: number,
): Generator<Uint8Array<ArrayBuffer>> {
  yield header(name, content.length, mode, seconds);
  yield new Uint8Array(content);
  yield new Uint8Array((BLOCK - content.length % BLOCK) % BLOCK);
}

/** Returns the end-of-archive marker. */
export function tarEnd(): Uint8Array<ArrayBuffer> {
  return new Uint8Array(2 * BLOCK);
}

/** Returns a header: texts and octal numbers at fixed offsets. The checksum is the sum of all header bytes. */
function header(name: string, size: number, mode: number, seconds: number): Uint8Array<ArrayBuffer> {
  const block = new Uint8Array(BLOCK);
  const put = (text: string, at: number) => void encoder.encodeInto(text, block.subarray(at));
  const octal = (value: number, digits: number) => value.toString(8).padStart(digits, "0");
  put(name, 0);
  put(`${octal(mode, 7)}\0${octal(0, 7)}\0${octal(0, 7)}\0${octal(size, 11)}\0${octal(seconds, 11)}\0`, 100);
  put("        0", 148);
  put("ustar\x0000", 257);
  put(`${octal(sumOf(block), 6)}\0 `, 148);
  return block;
}

function sumOf(block: Uint8Array): number {
  return block.reduce((sum, byte, at) => sum + (at >= 148 && at < 156 ? 0x20 : byte), 0);
}

/** An entry of an archive. Only regular files have content. */
export interface TarEntry {
  readonly name: string;
  readonly isFile: boolean;
  readonly size: number;
}

export interface TarReader {
  /** Returns the number of bytes to keep of a file; 0 skips the file. Called for each entry. */
  wants(entry: TarEntry): number;
  /** Receives a file, truncated to the number of bytes from `wants`. */
  read(entry: TarEntry, content: Uint8Array): void;
}

/** Reads an archive. Throws a MeshError for an invalid or truncated archive. */
export async function readTar(chunks: AsyncIterable<Uint8Array>, reader: TarReader): Promise<void> {
  const source = new Blocks(chunks);
  for (;;) {
    const block = await source.take(BLOCK);
    if (block.length === 0 || block.every((byte) => byte === 0)) return;
    const entry = entryOf(block);
    const most = Math.min(entry.size, reader.wants(entry));
    const content = await source.take(most);
    const rest = entry.size - most + (BLOCK - entry.size % BLOCK) % BLOCK;
    if (content.length < most || !await source.skip(rest)) {
      throw new MeshError("The archive is truncated in the middle of a file");
    }
    if (entry.isFile) reader.read(entry, content);
  }
}

function entryOf(block: Uint8Array): TarEntry {
  if (block.length < BLOCK) throw new MeshError("The archive is truncated in the middle of a header");
  const text = (at: number, length: number) => latin1.decode(block.subarray(at, at + length)).replace(/\0.*$/s, "");
  const number = (at: number, length: number) => {
    const digits = text(at, length).trim();
    return /^[0-7]+$/.test(digits) ? parseInt(digits, 8) : NaN;
  };
  const size = number(124, 12);
  if (number(148, 8) !== sumOf(block) || Number.isNaN(size)) {
    throw new MeshError("The file is not a tar archive, or it is damaged");
  }
  const kind = text(156, 1);
  return { name: text(0, 100), isFile: kind === "" || kind === "0", size };
}

/** Reads a stream in blocks of the requested sizes. */
class Blocks {
  readonly #chunks: AsyncIterator<Uint8Array>;
  #held = new Uint8Array(0);

  constructor(chunks: AsyncIterable<Uint8Array>) {
    this.#chunks = chunks[Symbol.asyncIterator]();
  }

  /** Returns the next bytes. Returns fewer bytes at the end of the stream. */
  async take(count: number): Promise<Uint8Array> {
    const taken = new Uint8Array(count);
    let at = 0;
    while (at < count && await this.#fill()) {
      const piece = this.#held.subarray(0, count - at);
      taken.set(piece, at);
      at += piece.length;
      this.#held = this.#held.subarray(piece.length);
    }
    return taken.subarray(0, at);
  }

  /** Skips bytes. Returns `false` if the stream ends earlier. */
  async skip(count: number): Promise<boolean> {
    for (let left = count; left > 0;) {
      if (!await this.#fill()) return false;
      const length = Math.min(left, this.#held.length);
      this.#held = this.#held.subarray(length);
      left -= length;
    }
    return true;
  }

  async #fill(): Promise<boolean> {
    while (this.#held.length === 0) {
      const { value, done } = await this.#chunks.next();
      if (done === true) return false;
      this.#held = new Uint8Array(value);
    }
    return true;
  }
}
