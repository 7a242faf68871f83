/** The files, folders and links of a root file system. */

/** A file, a folder or a symbolic link. Paths do not start with a slash. */
export interface Entry {
  readonly path: string;
  /** The content of a file. */
  readonly content?: Uint8Array<ArrayBuffer>;
  /** The target of a link. */
  readonly target?: string;
  /** Permission bits; 0755 for a folder and 0644 for a file by default. */
  readonly mode?: number;
  /** User and group; 0 by default. */
  readonly owner?: number;
}

/** Returns the entries sorted by path, and adds missing parent folders. If a path occurs twice, the last entry wins. */
export function complete(entries: readonly Entry[]): Entry[] {
  const byPath = new Map<string, Entry>();
  for (const { path } of entries) {
    const parts = path.split("/").slice(0, -1);
    parts.forEach((_, index) => {
      const folder = parts.slice(0, index + 1).join("/");
      byPath.set(folder, { path: folder });
    });
  }
  for (const entry of entries) byPath.set(entry.path, entry);
  return [...byPath.values()].sort((a, b) => a.path < b.path ? -1 : 1);
}

/** Whether an entry is a folder. */
export function isFolder({ content, target }: Entry): boolean {
  return content === undefined && target === undefined;
}

/** The permission bits of an entry. */
export function modeOf(entry: Entry): number {
  return entry.mode ?? (isFolder(entry) ? 0o755 : 0o644);
}

/** Writes the entries into an existing folder. Setting owners other than the current user needs root. */
export async function writeTree(folder: string, entries: readonly Entry[]): Promise<void> {
  for (const entry of complete(entries)) {
    const path = `${folder}/${entry.path}`;
    if (entry.target !== undefined) {
      await Deno.symlink(entry.target, path);
      continue;
    }
    if (entry.content === undefined) await Deno.mkdir(path);
    else await Deno.writeFile(path, entry.content);
    if (entry.owner !== undefined) await Deno.chown(path, entry.owner, entry.owner);
    await Deno.chmod(path, modeOf(entry));
  }
}
