/** The metadata of a file (stat(2)). */
export interface FileStatus {
  readonly kind: "file" | "directory" | "other";
  /** Bytes. */
  readonly size: number;
  /** Permission bits, such as 0o644; `undefined` on Windows. */
  readonly mode: number | undefined;
}

export interface DirectoryEntry {
  readonly name: string;
  readonly kind: FileStatus["kind"];
}

/** A new file that will replace an existing one. The caller must call `commit` or `abort` exactly once. */
export interface Replacement {
  write(chunk: string | Uint8Array): void;
  /** Replaces the old file atomically. Keeps the old permission bits unless the caller gave a mode. */
  commit(): void;
  abort(): void;
}

/** A file without a name. Other processes cannot open it, and the kernel removes it however this process ends. */
export interface Scratch {
  write(bytes: Uint8Array): void;
  /** Returns all written bytes in chunks, from the start. A chunk is valid until the next chunk is read. */
  chunks(): Iterable<Uint8Array>;
  close(): void;
}

/** A folder that only this user can access. Removed when the process ends, except by SIGKILL. */
export interface TemporaryFolder {
  readonly path: string;
  remove(): void;
}

/** The file system. Errors are `MeshError`s that name the path. */
export interface Files {
  /** Returns the content in chunks, so that a large file is never in memory as a whole. */
  chunks(path: string): AsyncIterable<Uint8Array>;
  /** Returns the whole text. Rejects if the file is larger than `maxBytes` (16 MiB by default) or not UTF-8. */
  readText(path: string, maxBytes?: number): Promise<string>;
  /** Returns the metadata of a file; `undefined` if the path does not exist. Follows symbolic links. */
  stat(path: string): Promise<FileStatus | undefined>;
  /** Returns the entries of a directory, sorted by name. */
  list(path: string): Promise<readonly DirectoryEntry[]>;
  /**
   * Starts to replace or create a file, with the permission bits in `mode` if given. Replaces the target of a symbolic
   * link, not the link.
   */
  replace(path: string, mode?: number): Replacement;
  /** Writes a small file in one step (through `replace`). */
  writeText(path: string, text: string, mode?: number): void;
  /** Opens a file without a name in the temporary folder. Reading and writing it later needs no permission. */
  scratch(): Scratch;
  temporaryFolder(): TemporaryFolder;
  /**
   * Removes the temporary files that killed processes of this program left in the temporary folder or in the folder of
   * `output`. If `output` is a device, opens it. Call this before giving up permissions, if the process needs a
   * temporary file, a socket or an output afterwards.
   */
  tidyTemporary(output?: string): void;
  /** Creates a folder and its missing parents, with the permission bits in `mode` (0700 by default). */
  makeFolder(path: string, mode?: number): Promise<void>;
  /** Removes a file or a tree. Ignores a missing path. */
  remove(path: string): Promise<void>;
  /**
   * Calls `changed` after the content of any file changed and then stayed the same for two polls. The returned function
   * stops watching. A directory means all of its files. Files may appear and disappear. Follows symbolic links.
   */
  watch(paths: readonly string[], milliseconds: number, changed: () => void): () => void;
  /** Takes an exclusive lock on a file (flock(2)) and creates a missing file. Returns `undefined` after the timeout. */
  lock(path: string, waitMilliseconds: number): Promise<Lock | undefined>;
}

/** A lock that is held until `release` or the end of the process. */
export interface Lock {
  release(): void;
}
