/**
 * One file with all scripts of the program and their caches. It stays open: scripts can be loaded after the command has given up
 * the permission to read files.
 *
 * ```
 * 8 digits: length of the table | the table | source, cache, source, cache, ...
 * ```
 *
 * The table has a line `NAME SOURCE CACHE END` for each script: it is searched, not parsed, as a command loads some ten of 150.
 */

/** The offsets of a script behind the table: `source..cache..end`; no cache if the last two are equal. */
export interface Part {
  readonly source: number;
  readonly cache: number;
  readonly end: number;
}

/** An open pack. */
export interface Pack {
  /** The script of a name, if there is one. */
  part(name: string): Part | undefined;
  /** All scripts, in their order. */
  names(): string[];
  /** The bytes are there until the next call. A new buffer has `capacity` bytes. */
  read(start: number, end: number, capacity?: number): Uint8Array;
}

const LENGTH_DIGITS = 8;

/** The first read: more than length and table have. */
const HEAD_BYTES = 16 * 1024;

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
  const read = (start: number, end: number, capacity = 0): Uint8Array => {
    file.seekSync(at + start, Deno.SeekMode.Start);
    // One buffer for all: memory that was not used before takes a page fault for each 4 KB.
    if (buffer.length < end - start) buffer = new Uint8Array(Math.max(end - start, capacity));
    const bytes = buffer.subarray(0, end - start);
    for (let filled = 0; filled < bytes.length;) filled += file.readSync(bytes.subarray(filled)) ?? end;
    return bytes;
  };
  const text = (start: number, end: number) => new TextDecoder().decode(read(start, end));
  const head = text(0, HEAD_BYTES);
  const body = LENGTH_DIGITS + Number(head.slice(0, LENGTH_DIGITS));
  const table = body <= HEAD_BYTES ? head.slice(LENGTH_DIGITS, body) : text(LENGTH_DIGITS, body);
  return {
    part(name) {
      const at = table.indexOf(`\n${name} `) + 1;
      if (at === 0) return undefined;
      const [, source, cache, end] = table.slice(at, table.indexOf("\n", at)).split(" ");
      return { source: Number(source), cache: Number(cache), end: Number(end) };
    },
    names: () => [...table.matchAll(/^\S+/gm)].map(([name]) => name),
    read: (start, end, capacity) => read(body + start, body + end, capacity),
  };
}

/** The script that starts the program. It exports the modules that it is made of: functions that return what they export, by name. */
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
  let lines = "\n";
  const pieces: Uint8Array[] = [];
  let at = 0;
  for (const { name, source, cache = new Uint8Array() } of scripts) {
    const text = encoder.encode(source);
    lines += `${name} ${at} ${at + text.length} ${at + text.length + cache.length}\n`;
    at += text.length + cache.length;
    pieces.push(text, cache);
  }
  const table = encoder.encode(lines);
  const length = encoder.encode(String(table.length).padStart(LENGTH_DIGITS, "0"));
  using file = await Deno.open(path, { write: true, create: true, truncate: true });
  for (const piece of [length, table, ...pieces]) await writeAll(file, piece);
}

async function writeAll(file: Deno.FsFile, bytes: Uint8Array): Promise<void> {
  for (let done = 0; done < bytes.length;) done += await file.write(bytes.subarray(done));
}
