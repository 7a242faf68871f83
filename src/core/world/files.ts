/** What is known of a file without reading it. */
export interface FileFacts {
  readonly kind: "file" | "directory" | "other";
  /** Bytes. */
  readonly size: number;
  /** Permission bits, such as 0o644; `undefined` where the system has none. */
  readonly mode: number | undefined;
}

/** An entry of a directory. */
export interface DirectoryEntry {
  readonly name: string;
  readonly kind: FileFacts["kind"];
}

/** A file that is being written beside the one it will replace: exactly one of `commit` and `abort` ends it. */
export interface Replacement {
  write(chunk: string | Uint8Array): void;
  /** Puts the new content in place of the old in one step. The file's permissions are kept, unless others were told. */
  commit(): void;
  /** Leaves the old file as it was. */
  abort(): void;
}

/** Files. Failures are `MeshError`s that name the path. */
export interface Files {
  /** The content in pieces: a large file is never held whole. */
  chunks(path: string): AsyncIterable<Uint8Array>;
  /** The whole text as UTF-8; an error if it is larger than `maxBytes` (16 MiB unless told) or is not UTF-8. */
  readText(path: string, maxBytes?: number): Promise<string>;
  /** `undefined` if nothing is there; symbolic links are followed. */
  facts(path: string): Promise<FileFacts | undefined>;
  /** Sorted by name. */
  list(path: string): Promise<readonly DirectoryEntry[]>;
  /** Starts to replace (or create) a file, with these permission bits if told; a symbolic link keeps being one. */
  replace(path: string, mode?: number): Replacement;
  /** Writes a small file in one step (through `replace`), with these permission bits if it is new. */
  writeText(path: string, text: string, mode?: number): void;
  /** Makes a folder and those above it that are not there, with these permission bits (0700 unless told). */
  makeFolder(path: string, mode?: number): Promise<void>;
  /** Removes a file or a tree; no error if it is not there. */
  remove(path: string): Promise<void>;
  /**
   * Calls back when the content of any of these files has changed and is calm again, until the returned function is
   * called. A directory stands for the files in it; a file may come and go. Links are followed, swaps of them are seen.
   */
  watch(paths: readonly string[], milliseconds: number, changed: () => void): () => void;
  /** An exclusive lock on a file that is made if absent (flock), waited for at most so long; `undefined` if the time ran out. */
  lock(path: string, waitMilliseconds: number): Promise<Lock | undefined>;
}

/** A lock held; given back by `release` or by the end of the process. */
export interface Lock {
  release(): void;
}
