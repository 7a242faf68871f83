/**
 * A pack is one file with all scripts of the program and their code caches. It stays open, because scripts can be
 * loaded after the command has given up the permission to read files.
 *
 * ```
 * 8 digits: length of the table | the table | source, cache, source, cache, ...
 * ```
 *
 * The table has a line `NAME SOURCE CACHE END` for each script. It is searched, not parsed, because a command loads
 * only about ten of 150 scripts.
 */

/**
 * The offsets of a script after the table: the source is `source..cache`, its code cache `cache..end` (empty if there
 * is none).
 */
export interface Part {
  readonly source: number;
  readonly cache: number;
  readonly end: number;
}

/** An open pack. */
export interface Pack {
  /** Returns the offsets of the script with this name. */
  part(name: string): Part | undefined;
  /** Returns the names of all scripts, in order. */
  names(): string[];
  /** Returns bytes that are valid until the next call. If a new buffer is needed, it has at least `capacity` bytes. */
  read(start: number, end: number, capacity?: number): Uint8Array;
}

const LENGTH_DIGITS = 8;

/** The size of the first read, which is larger than the length and the table. */
const HEAD_BYTES = 16 * 1024;

/** An open file, and the offset of the pack in it. */
export interface PackPlace {
  readonly file: Deno.FsFile;
  readonly start: number;
}

/** Opens a file that contains only a pack. */
export function packFile(path: string): PackPlace {
  return { file: Deno.openSync(path), start: 0 };
}

/** Reads the table of a pack. */
export function readPack({ file, start: at }: PackPlace): Pack {
  let buffer = new Uint8Array(0);
  const read = (start: number, end: number, capacity = 0): Uint8Array => {
    file.seekSync(at + start, Deno.SeekMode.Start);
    // All reads share one buffer, because new memory costs a page fault for each 4 KB.
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

/**
 * The script that starts the program. It exports `modules`: by name, functions that return the exports of its modules.
 */
export const START = "start.js";

/** A script and its bytecode. */
export interface Script {
  readonly name: string;
  readonly source: string;
  readonly cache?: Uint8Array;
}

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
