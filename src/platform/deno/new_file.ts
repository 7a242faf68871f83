/** New files that replace existing ones. */
import { MeshError, messageOf } from "../../base/errors.ts";

export interface Ownership {
  readonly mode: number;
  /** The owner to keep, which only root can set. `undefined` means the user who runs the program. */
  readonly owner: { readonly uid: number; readonly gid: number } | undefined;
}

const DEFAULT_MODE = 0o644;

/**
 * Returns the permission bits and owner for the replacement of a file. As root, the program keeps the owner and group
 * of the previous file, so that both can still read and change the file. A given `mode` marks a secret, which belongs
 * to the user who runs the program, not to the owner of the previous file.
 */
export function ownershipOf(path: string, mode?: number): Ownership {
  if (mode !== undefined) return { mode, owner: undefined };
  try {
    const { mode: found, uid, gid } = Deno.statSync(path);
    const owner = uid !== null && gid !== null ? { uid, gid } : undefined;
    return { mode: (found ?? DEFAULT_MODE) & 0o777, owner };
  } catch {
    // The file does not exist yet, or access is denied.
    return { mode: DEFAULT_MODE, owner: undefined };
  }
}

/** Creates a file and opens it for writing. Throws errors of the runtime, or a MeshError if the owner cannot be kept. */
export function createFile(path: string, wanted: Ownership): Deno.FsFile {
  const { mode } = wanted;
  const file = Deno.openSync(path, { write: true, createNew: true, mode });
  try {
    const made = file.statSync();
    // The owner of the new file is the user of this process. `Deno.uid()` would need a permission.
    const own = made.uid === 0 ? wanted : { mode, owner: undefined };
    if (Deno.build.os !== "windows" && !hasAll(made, own)) set(path, made, own);
    return file;
  } catch (error) {
    file.close();
    throw error;
  }
}

function hasAll({ mode, uid, gid }: Deno.FileInfo, wanted: Ownership): boolean {
  const { owner = { uid, gid } } = wanted;
  return ((mode ?? 0) & 0o777) === wanted.mode && uid === owner.uid && gid === owner.gid;
}

/**
 * Sets mode and owner through a file descriptor, not the path: in another user's folder the path may be a link by now,
 * and chown(2) or chmod(2) would change the target of the link.
 */
function set(path: string, { dev, ino }: Deno.FileInfo, { mode, owner }: Ownership): void {
  const fs = globalThis.process.getBuiltinModule("node:fs");
  const { O_RDONLY, O_WRONLY, O_NOFOLLOW, O_NONBLOCK } = fs.constants;
  const access = (mode & 0o400) === 0 ? O_WRONLY : O_RDONLY;
  const file = fs.openSync(path, access | O_NOFOLLOW | O_NONBLOCK);
  try {
    const same = fs.fstatSync(file);
    if (same.dev !== dev || same.ino !== ino) throw new Error("another program has replaced the new file");
    if (owner !== undefined) fs.fchownSync(file, owner.uid, owner.gid);
    fs.fchmodSync(file, mode);
  } catch (error) {
    throw new MeshError(`Cannot write "${path}": cannot keep its owner and mode: ${messageOf(error)}`, {
      cause: error,
    });
  } finally {
    fs.closeSync(file);
  }
}
