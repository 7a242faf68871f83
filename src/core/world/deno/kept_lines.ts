/** A file of lines that only this user can write, for caches. */
import type { KeptLines } from "../world.ts";
import { writeWhole } from "./streams.ts";

/** The first line: a file without it is not one of this program's, and is never written. */
const HEADER = "kubectl-mesh cache 2\n";

/** A line that makes the file larger begins it anew. */
const MAX_BYTES = 1024 * 1024;

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
  const { size } = file.statSync();
  const isFull = size > MAX_BYTES;
  const bytes = new Uint8Array(isFull ? HEADER.length : size);
  const text = new TextDecoder().decode(bytes.subarray(0, file.readSync(bytes) ?? 0));
  if (text !== "" && !text.startsWith(HEADER)) return undefined;
  return {
    find(word) {
      const start = text.lastIndexOf(`\n${word} `) + 1;
      const end = text.indexOf("\n", start);
      // What follows the last line break was cut off.
      return start === 0 || end < 0 ? undefined : text.slice(start + word.length + 1, end);
    },
    add(line) {
      try {
        const bytes = new TextEncoder().encode(`${text === "" || text.endsWith("\n") ? "" : "\n"}${line}\n`);
        const isNew = size === 0 || size + bytes.length > MAX_BYTES;
        if (HEADER.length + bytes.length > MAX_BYTES) return;
        if (isNew) file.truncateSync(0);
        writeWhole(file, isNew ? new TextEncoder().encode(`${HEADER}${line}\n`) : bytes);
      } catch {
        // The next run does the work again.
      }
    },
    close: () => file.close(),
  };
}
