/** The metadata of a file (stat(2)). */
export interface FileStatus {
  readonly kind: "file" | "directory" | "other";
  /** Bytes. */
  readonly size: number;
  /** Permission bits, such as 0o644; `undefined` on Windows. */
  readonly mode: number | undefined;
}

/** An entry of a directory. */
export interface DirectoryEntry {
  readonly name: string;
  readonly kind: FileStatus["kind"];
}

/** A new file beside the one that it replaces. Exactly one of `commit` and `abort` ends it. */
export interface Replacement {
  write(chunk: string | Uint8Array): void;
  /** Replaces the old file in one step. Its permission bits are kept unless others were given. */
  commit(): void;
  /** Removes the new file. */
  abort(): void;
}

/** A file without a name: no other process can open it, and it disappears when the process ends, however that happens. */
export interface Scratch {
  write(bytes: Uint8Array): void;
  /** All that was written, from the start, in pieces. Each is valid until the next is asked for. */
  chunks(): Iterable<Uint8Array>;
  close(): void;
}

/** A folder that only this user can access. It is removed when the process ends, unless SIGKILL ends it. */
export interface TemporaryFolder {
  readonly path: string;
  remove(): void;
}

/** The file system. Throws `MeshError`s that name the path. */
export interface Files {
  /** The content in chunks: a large file is never held whole. */
  chunks(path: string): AsyncIterable<Uint8Array>;
  /** The whole text; an error if it has more than `maxBytes` (16 MiB by default) or is not UTF-8. */
  readText(path: string, maxBytes?: number): Promise<string>;
  /** `undefined` if the path does not exist. Follows symbolic links. */
  stat(path: string): Promise<FileStatus | undefined>;
  /** Sorted by name. */
  list(path: string): Promise<readonly DirectoryEntry[]>;
  /** Starts to replace or create a file, with these permission bits if given. The target of a symbolic link is replaced. */
  replace(path: string, mode?: number): Replacement;
  /** Writes a small file in one step (through `replace`). */
  writeText(path: string, text: string, mode?: number): void;
  /** Opens a file without a name in the folder for temporary files. Its use needs no permission after that. */
  scratch(): Scratch;
  /** Makes a folder in the folder for temporary files. */
  temporaryFolder(): TemporaryFolder;
  /**
   * Removes what killed processes of this program left in the folder for temporary files, or in the folder of an output, and opens an
   * output that is a device. Call it before permissions are given up, if a temporary file, a socket or an output is needed
   * afterwards: it is not possible then.
   */
  tidyTemporary(output?: string): void;
  /** Creates a folder and its missing parents, with these permission bits (0700 by default). */
  makeFolder(path: string, mode?: number): Promise<void>;
  /** Removes a file or a tree; no error if it does not exist. */
  remove(path: string): Promise<void>;
  /**
   * Calls `changed` after the content of any of these files changed and was the same for two polls. The returned function
   * stops it. A directory stands for its files; a file may appear and disappear. Symbolic links are followed.
   */
  watch(paths: readonly string[], milliseconds: number, changed: () => void): () => void;
  /** Takes an exclusive lock on a file (flock(2)), which is created if absent; `undefined` after the timeout. */
  lock(path: string, waitMilliseconds: number): Promise<Lock | undefined>;
}

/** A lock that is held until `release` or the end of the process. */
export interface Lock {
  release(): void;
}
