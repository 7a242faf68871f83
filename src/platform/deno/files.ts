import { joinBytes } from "../../base/bytes.ts";
import { MeshError } from "../../base/errors.ts";
import { withShownUrls } from "../../base/shown_url.ts";
import { decodeUtf8 } from "../../base/text/mod.ts";
import { clock } from "./clock.ts";
import { CHUNK_BYTES, readInPieces, systemReason, writeWhole } from "./streams.ts";
import { createFile, type Ownership, ownershipOf } from "./new_file.ts";
import { guard } from "./temporary/guard.ts";
import { temporaryFile, temporaryFolder, temporaryName, tidyTemporary, usualParent } from "./temporary/mod.ts";
import { watchFiles } from "./watch.ts";
import type { DirectoryEntry, Files, FileStatus, Lock, Replacement, Scratch } from "../world.ts";

const DEFAULT_MAX_BYTES = 16 * 1024 * 1024;
const encoder = new TextEncoder();

/** The file system, through Deno. */
export const realFiles: Files = {
  async *chunks(path) {
    using file = openRegular(path) ?? await openFile(path);
    const { isFile, size } = file.statSync();
    yield* isFile ? regularPieces(file, size) : readInPieces(file);
  },
  async readText(path, maxBytes = DEFAULT_MAX_BYTES) {
    using file = openRegular(path);
    if (file !== undefined) return decodeUtf8(wholeOf(file, path, maxBytes), path);
    const pieces: Uint8Array[] = [];
    let size = 0;
    for await (const piece of realFiles.chunks(path)) {
      size += piece.length;
      if (size > maxBytes) throw tooLarge(path, maxBytes);
      pieces.push(piece);
    }
    return decodeUtf8(joinBytes(pieces), path);
  },
  stat: (path) => attempt("look at", path, () => look(path)),
  list: (path) =>
    attempt("list", path, async () => {
      const entries = await Array.fromAsync(Deno.readDir(path), (entry) => entryOf(path, entry));
      return entries.sort((a, b) => a.name < b.name ? -1 : 1);
    }),
  replace: startReplacement,
  writeText(path, text, mode) {
    const file = startReplacement(path, mode);
    try {
      file.write(text);
      file.commit();
    } catch (error) {
      file.abort();
      throw error;
    }
  },
  scratch: openScratch,
  tidyTemporary: (output) =>
    output !== undefined && isDevice(output) ? openEarly(output) : tidyTemporary(parentOf(output)),
  temporaryFolder: () => attemptSync("write", TEMPORARY, () => temporaryFolder(usualParent())),
  makeFolder: (path, mode = 0o700) =>
    attempt("make the folder", path, () => Deno.mkdir(path, { recursive: true, mode })),
  remove: (path) =>
    attempt("remove", path, () =>
      Deno.remove(path, { recursive: true }).catch((error) => {
        if (!(error instanceof Deno.errors.NotFound)) throw error;
      })),
  watch: watchFiles,
  lock: lockFile,
};

function look(path: string): FileStatus | undefined {
  try {
    const info = Deno.statSync(path);
    return { kind: kindOf(info), size: info.size, mode: info.mode === null ? undefined : info.mode & 0o7777 };
  } catch (error) {
    if (error instanceof Deno.errors.NotFound || error instanceof Deno.errors.NotADirectory) return undefined;
    throw error;
  }
}

/**
 * Opens a regular file; `undefined` for pipes and devices, where open(2) may block. Regular files are read synchronously: the
 * first asynchronous call starts Deno's thread pool, which takes 4 ms.
 */
function openRegular(path: string): Deno.FsFile | undefined {
  return attemptSync("read", path, () => Deno.statSync(path).isFile ? Deno.openSync(path) : undefined);
}

/** Reads a regular file in chunks. Yields to the event loop after each full chunk, so that signal handlers run. */
async function* regularPieces(file: Deno.FsFile, size: number): AsyncGenerator<Uint8Array> {
  // For files in /proc and growing files, stat(2) reports too small a size.
  const buffer = new Uint8Array(Math.min(CHUNK_BYTES, Math.max(size + 1, 4096)));
  for (let piece = readPiece(file, buffer); piece !== undefined; piece = readPiece(file, buffer)) {
    yield piece;
    if (piece.length === buffer.length) await new Promise((resolve) => setTimeout(resolve, 0));
  }
}

/** Reads a whole regular file. Reads to the end even if stat(2) reports a smaller size, as for files in /proc. */
function wholeOf(file: Deno.FsFile, path: string, maxBytes: number): Uint8Array {
  const { size } = file.statSync();
  if (size > maxBytes) throw tooLarge(path, maxBytes);
  let bytes: Uint8Array = new Uint8Array(size + 1);
  for (let filled = 0;;) {
    const count = file.readSync(bytes.subarray(filled));
    if (count === null) return bytes.subarray(0, filled);
    filled += count;
    if (filled > maxBytes) throw tooLarge(path, maxBytes);
    if (filled === bytes.length) bytes = joinBytes([bytes, new Uint8Array(CHUNK_BYTES)]);
  }
}

function tooLarge(path: string, maxBytes: number): MeshError {
  return new MeshError(`Cannot read "${path}": it is larger than ${maxBytes} bytes`);
}

function readPiece(file: Deno.FsFile, buffer: Uint8Array): Uint8Array | undefined {
  const count = file.readSync(buffer);
  return count === null ? undefined : buffer.slice(0, count);
}

function openFile(path: string): Promise<Deno.FsFile> {
  return attempt("read", path, async () => {
    const file = await Deno.open(path);
    if (!(await file.stat()).isDirectory) return file;
    file.close();
    throw new Deno.errors.IsADirectory("it is a directory");
  });
}

function kindOf({ isFile, isDirectory }: Pick<Deno.DirEntry, "isFile" | "isDirectory">): FileStatus["kind"] {
  return isFile ? "file" : isDirectory ? "directory" : "other";
}

async function entryOf(folder: string, entry: Deno.DirEntry): Promise<DirectoryEntry> {
  const { name } = entry;
  if (!entry.isSymlink) return { name, kind: kindOf(entry) };
  return { name, kind: (await realFiles.stat(`${folder}/${name}`))?.kind ?? "other" };
}

/** Starts the atomic replacement of a file: writes a temporary file in the same folder, and renames it at the end. */
function startReplacement(path: string, mode?: number): Replacement {
  const target = realTarget(path);
  if (isDevice(target)) return writeToDevice(path);
  const temporary = temporaryName(folderOf(target));
  const forget = guard(() => removeIfThere(temporary));
  const file = openNew(temporary, path, ownershipOf(target, mode), forget);
  let open = true;
  const close = () => {
    if (open) file.close();
    open = false;
  };
  return {
    write: (chunk) => writeChunk(file, path, chunk),
    commit: () =>
      attemptSync("write", path, () => {
        file.syncDataSync();
        close();
        Deno.renameSync(temporary, target);
        forget();
      }),
    abort() {
      close();
      removeIfThere(temporary);
      forget();
    },
  };
}

/** Removes a temporary file or a socket. Ignores a missing file, which was never created or is already gone. */
export function removeIfThere(path: string): void {
  try {
    Deno.removeSync(path);
  } catch {
    // The file does not exist.
  }
}

function writeChunk(file: Deno.FsFile, path: string, chunk: string | Uint8Array): void {
  attemptSync("write", path, () => writeWhole(file, typeof chunk === "string" ? encoder.encode(chunk) : chunk));
}

/** Writes directly to a device or a named pipe, which a rename cannot replace. */
function writeToDevice(path: string): Replacement {
  const file = openedEarly.get(path) ?? openDevice(path);
  openedEarly.delete(path);
  return {
    write: (chunk) => writeChunk(file, path, chunk),
    commit: () => file.close(),
    abort: () => unlessClosed(file),
  };
}

function openDevice(path: string): Deno.FsFile {
  return attemptSync("write", path, () => Deno.openSync(path, { write: true }));
}

/** Open devices by path. Deno refuses to open devices after the process has given up a permission. */
const openedEarly = new Map<string, Deno.FsFile>();

function openEarly(path: string): void {
  if (openedEarly.has(path)) return;
  try {
    openedEarly.set(path, openDevice(path));
  } catch (error) {
    // The later write reports the error.
    if (!(error instanceof MeshError)) throw error;
  }
}

function parentOf(output: string | undefined): string {
  return output === undefined ? usualParent() : folderOf(realTarget(output));
}

function unlessClosed(file: Deno.FsFile): void {
  try {
    file.close();
  } catch {
    // The file is already closed.
  }
}

function isDevice(path: string): boolean {
  try {
    const status = Deno.statSync(path);
    return !status.isFile && !status.isDirectory;
  } catch {
    // The file does not exist, or access is denied.
    return false;
  }
}

function openNew(temporary: string, path: string, wanted: Ownership, failed: () => void): Deno.FsFile {
  try {
    return createFile(temporary, wanted);
  } catch (error) {
    removeIfThere(temporary);
    failed();
    throw fileError("write", path, error);
  }
}

function realTarget(path: string): string {
  try {
    return Deno.realPathSync(path);
  } catch {
    // A part of the path does not exist yet.
    return path;
  }
}

function folderOf(path: string): string {
  const end = path.search(Deno.build.os === "windows" ? /[/\\][^/\\]*$/ : /\/[^/]*$/);
  return end < 0 ? "." : path.slice(0, end);
}

const TEMPORARY = "the temporary folder";

function openScratch(): Scratch {
  const file = attemptSync("write", TEMPORARY, temporaryFile);
  return {
    write: (bytes) => writeChunk(file, TEMPORARY, bytes),
    *chunks() {
      file.seekSync(0, Deno.SeekMode.Start);
      const buffer = new Uint8Array(CHUNK_BYTES);
      for (let count = file.readSync(buffer); count !== null; count = file.readSync(buffer)) {
        yield buffer.subarray(0, count);
      }
    },
    close: () => file.close(),
  };
}

/** Locks a file. Deno's lock has no timeout, so a lock acquired after the timeout is released immediately. */
async function lockFile(path: string, waitMilliseconds: number): Promise<Lock | undefined> {
  const file = await openLock(path);
  const lock: Lock = { release: () => file.close() };
  const acquired = file.lock(true).then(() => lock);
  const end = new AbortController();
  const first = await Promise.race([acquired, clock.sleep(waitMilliseconds, end.signal)]);
  end.abort();
  if (first !== undefined) return first;
  acquired.then(lock.release);
  return undefined;
}

/** Opens a lock file for reading if it exists, because a lock does not need write permission. */
function openLock(path: string): Promise<Deno.FsFile> {
  return attempt("lock", path, () =>
    Deno.open(path, { read: true }).catch((error) => {
      if (!(error instanceof Deno.errors.NotFound)) throw error;
      return Deno.open(path, { read: true, write: true, create: true, mode: 0o600 });
    }));
}

/** Runs an action. An error names the action and the path. */
async function attempt<T>(action: string, path: string, act: () => T | Promise<T>): Promise<T> {
  try {
    return await act();
  } catch (error) {
    throw fileError(action, path, error);
  }
}

function attemptSync<T>(action: string, path: string, act: () => T): T {
  try {
    return act();
  } catch (error) {
    throw fileError(action, path, error);
  }
}

/** Texts for Deno's errors. All other errors keep the kernel's text. */
const REASONS: readonly (readonly [new (...args: never[]) => Error, string])[] = [
  [Deno.errors.NotFound, "no such file or directory"],
  [Deno.errors.PermissionDenied, "permission denied"],
  [Deno.errors.NotCapable, "permission denied (this command drops permissions that it does not need)"],
  [Deno.errors.IsADirectory, "it is a directory"],
  [Deno.errors.NotADirectory, "a parent in the path is not a directory"],
];

function fileError(action: string, path: string, error: unknown): MeshError {
  if (error instanceof MeshError) return error;
  const isUrl = error instanceof Deno.errors.NotFound && /^[a-z][a-z0-9+.-]*:\/\//i.test(path);
  const known = isUrl ? "it is a URL, not a file" : REASONS.find(([kind]) => error instanceof kind)?.[1];
  const reason = known ?? systemReason(error);
  const hint = isUrl && action === "read" ? 'fetch the file with "curl -o FILE URL"' : undefined;
  return new MeshError(`Cannot ${action} "${withShownUrls(path)}": ${reason}`, { cause: error, hint });
}
