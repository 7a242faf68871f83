/** A file of lines that only this user can write, for caches. */
import type { KeptLines } from "../world.ts";
import { writeWhole } from "./streams.ts";

/** The first line: a file without it is not one of this program's, and is never written. */
const HEADER = "kubectl-mesh cache 1\n";

/** A larger file begins anew. */
const MAX_BYTES = 16 * 1024;

/** What others than the owner may do. */
const OTHERS = 0o077;

/**
 * Opens the file `name` in `folder`, and makes both, and the folder's parent. `undefined` if that fails, or if another user could
 * write or replace them: the folder must be a folder and no link, of this user alone. Lines are appended whole by one write, so several processes can.
 */
export function keptLines(folder: string, name: string): KeptLines | undefined {
  try {
    makeFolder(folder.slice(0, folder.lastIndexOf("/")));
    makeFolder(folder);
    const path = `${folder}/${name}`;
    if (!isPrivate(Deno.lstatSync(folder), "isDirectory")) return undefined;
    const file = Deno.openSync(path, { read: true, append: true, create: true, mode: 0o600 });
    const lines = isSameFile(Deno.lstatSync(path), file.statSync()) ? linesOf(file) : undefined;
    if (lines === undefined) file.close();
    return lines;
  } catch {
    return undefined;
  }
}

function makeFolder(folder: string): void {
  try {
    Deno.mkdirSync(folder, { mode: 0o700 });
  } catch (error) {
    if (!(error instanceof Deno.errors.AlreadyExists)) throw error;
  }
}

function isPrivate(info: Deno.FileInfo, kind: "isFile" | "isDirectory"): boolean {
  return info[kind] && info.uid === Deno.uid() && info.mode !== null && (info.mode & OTHERS) === 0;
}

/** Whether a name stands for the opened file, and not for a link to it. */
function isSameFile(named: Deno.FileInfo, opened: Deno.FileInfo): boolean {
  return isPrivate(named, "isFile") && named.nlink === 1 && named.ino === opened.ino && named.dev === opened.dev;
}

/** `undefined` if the file is not one of this program's. */
function linesOf(file: Deno.FsFile): KeptLines | undefined {
  const bytes = new Uint8Array(MAX_BYTES + 1);
  const text = new TextDecoder().decode(bytes.subarray(0, file.readSync(bytes) ?? 0));
  if (text !== "" && !text.startsWith(HEADER)) return undefined;
  const isFull = text.length > MAX_BYTES;
  // What follows the last line break was cut off.
  const lines = new Set(isFull ? [] : text.split("\n").slice(1, -1));
  return {
    has: (line) => lines.has(line),
    add(line) {
      try {
        if (isFull) file.truncateSync(0);
        const start = isFull || text === "" ? HEADER : text.endsWith("\n") ? "" : "\n";
        writeWhole(file, new TextEncoder().encode(`${start}${line}\n`));
      } catch {
        // The next run does the work again.
      }
    },
    close: () => file.close(),
  };
}
