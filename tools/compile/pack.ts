/**
 * One file with all scripts of the program and their caches. It stays open: scripts can be loaded after the command has given up
 * the permission to read files.
 *
 * ```
 * 8 digits: length of the table | the table, JSON | source, cache, source, cache, ...
 * ```
 */

/** The offsets of a script behind the table: `source..cache..end`; no cache if the last two are equal. */
export interface Part {
  readonly source: number;
  readonly cache: number;
  readonly end: number;
}

/** An open pack. */
export interface Pack {
  readonly parts: Readonly<Record<string, Part>>;
  /** The bytes are there until the next call. */
  read(start: number, end: number): Uint8Array;
}

const LENGTH_DIGITS = 8;

/** Most scripts and caches are smaller: memory that was not used before takes a page fault for each 4 KB. */
const BUFFER_BYTES = 512 * 1024;

/** An open file, and the offset of the pack in it. */
export interface PackPlace {
  readonly file: Deno.FsFile;
  readonly start: number;
}

/** A pack in its own file. */
export function packFile(path: string): PackPlace {
  return { file: Deno.openSync(path), start: 0 };
}

/** Opens a pack. */
export function readPack({ file, start: at }: PackPlace): Pack {
  let buffer = new Uint8Array(0);
  const read = (start: number, end: number): Uint8Array => {
    file.seekSync(at + start, Deno.SeekMode.Start);
    if (buffer.length < end - start) buffer = new Uint8Array(Math.max(end - start, BUFFER_BYTES));
    const bytes = buffer.subarray(0, end - start);
    for (let filled = 0; filled < bytes.length;) filled += file.readSync(bytes.subarray(filled)) ?? end;
    return bytes;
  };
  const text = (start: number, end: number) => new TextDecoder().decode(read(start, end));
  const body = LENGTH_DIGITS + Number(text(0, LENGTH_DIGITS));
  const parts: Record<string, Part> = JSON.parse(text(LENGTH_DIGITS, body));
  return { parts, read: (start, end) => read(body + start, body + end) };
}

/** The script that starts the program. It exports the modules that it is made of, by their names. */
export const START = "start.js";

/** A script and its bytecode. */
export interface Script {
  readonly name: string;
  readonly source: string;
  readonly cache?: Uint8Array;
}

/** Writes a pack. */
export async function writePack(path: string, scripts: readonly Script[]): Promise<void> {
  const encoder = new TextEncoder();
  const parts: Record<string, Part> = {};
  const pieces: Uint8Array[] = [];
  let at = 0;
  for (const { name, source, cache = new Uint8Array() } of scripts) {
    const text = encoder.encode(source);
    parts[name] = { source: at, cache: at + text.length, end: at + text.length + cache.length };
    at += text.length + cache.length;
    pieces.push(text, cache);
  }
  const table = encoder.encode(JSON.stringify(parts));
  const length = encoder.encode(String(table.length).padStart(LENGTH_DIGITS, "0"));
  using file = await Deno.open(path, { write: true, create: true, truncate: true });
  for (const piece of [length, table, ...pieces]) await writeAll(file, piece);
}

async function writeAll(file: Deno.FsFile, bytes: Uint8Array): Promise<void> {
  for (let done = 0; done < bytes.length;) done += await file.write(bytes.subarray(done));
}
