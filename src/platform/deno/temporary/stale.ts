/** Removes the files that killed processes of this program left in a temporary folder. */
import { hasEnded, type Owner, ownerOf } from "./owner.ts";

const STICKY = 0o1000;
const WRITABLE_BY_OTHERS = 0o022;

/**
 * Removes from `folder` the files and folders whose owner process has ended. Other users may write to the folder, so
 * this function removes only entries that belong to this user, and does not follow symbolic links. Skips a folder where
 * another user could replace an entry in the meantime.
 */
export function removeStale(folder: string, self: Owner): void {
  try {
    if (!isSafe(folder)) return;
    for (const { name } of Deno.readDirSync(folder)) {
      const owner = ownerOf(name);
      if (owner !== undefined && hasEnded(owner, self)) removeOwn(`${folder}/${name}`);
    }
  } catch {
    // The folder cannot be read, so it contains no files of this program.
  }
}

/** Whether only the owner of an entry, the owner of the folder and root can rename or remove the entry. */
function isSafe(folder: string): boolean {
  const { mode, uid } = Deno.statSync(folder);
  if (mode === null || uid === null) return true;
  return (uid === 0 || uid === Deno.uid()) && ((mode & WRITABLE_BY_OTHERS) === 0 || (mode & STICKY) !== 0);
}

/** Removes a file, or a private folder with files and sockets. This program creates only these kinds. */
function removeOwn(path: string): void {
  try {
    const status = Deno.lstatSync(path);
    if (status.uid !== Deno.uid()) return;
    if (status.isFile) Deno.removeSync(path);
    else if (status.isDirectory && (status.mode === null || (status.mode & 0o777) === 0o700)) removeFolder(path);
  } catch {
    // Another process has removed the entry.
  }
}

/** Removes a folder and its files. Does not recurse. */
function removeFolder(path: string): void {
  for (const { name, isDirectory } of Deno.readDirSync(path)) if (!isDirectory) Deno.removeSync(`${path}/${name}`);
  Deno.removeSync(path);
}
