/**
 * Temporary files and folders, in the temporary folder or beside an output. The program removes all of them.
 */
import { guard } from "./guard.ts";
import { type Owner, prefixOf, thisOwner } from "./owner.ts";
import type { TemporaryFolder } from "../../world.ts";
import { removeStale } from "./stale.ts";
import { variable } from "../variable.ts";

let self: Owner | undefined;
const tidied = new Set<string>();

/**
 * Removes the files of killed processes from a folder, once per folder. Reads `/proc`, which Deno denies to a process
 * that has given up a permission. So call this before giving up permissions, if the process needs temporary files
 * afterwards.
 */
export function tidyTemporary(parent = usualParent()): void {
  self ??= thisOwner();
  if (self === undefined) return;
  if (!tidied.has(parent)) removeStale(parent, self);
  tidied.add(parent);
}

/** Creates a temporary folder in `parent`. Throws errors of the runtime. */
export function temporaryFolder(parent: string): TemporaryFolder {
  tidyTemporary(parent);
  let path: string | undefined;
  const remove = () => {
    try {
      if (path !== undefined) unlessGone(path);
      path = undefined;
    } finally {
      // This must be last: without the guard, a signal would end the process while the folder still exists.
      forget();
    }
  };
  const forget = guard(remove);
  try {
    path = Deno.makeTempDirSync({ prefix: prefix(), dir: parent });
    return { path, remove };
  } catch (error) {
    forget();
    throw error;
  }
}

/** Returns a path for a new file that will replace an output in this folder. Removes files of killed processes there. */
export function temporaryName(parent: string): string {
  tidyTemporary(parent);
  return `${parent}/${prefix()}${crypto.randomUUID().slice(0, 8)}`;
}

/** Opens a temporary file and removes its name. Throws errors of the runtime. */
export function temporaryFile(): Deno.FsFile {
  tidyTemporary();
  let path: string | undefined;
  const remove = () => {
    if (path !== undefined) unlessGone(path);
  };
  const forget = guard(remove);
  try {
    path = Deno.makeTempFileSync({ prefix: prefix(), dir: usualParent() });
    return Deno.openSync(path, { read: true, write: true });
  } finally {
    remove();
    forget();
  }
}

/**
 * Returns the temporary folder from the environment. Treats an empty variable as unset, as Go does. Throws if
 * {@link variable} throws.
 */
export function usualParent(): string {
  const names = Deno.build.os === "windows" ? ["TMP", "TEMP", "USERPROFILE"] : ["TMPDIR"];
  const given = names.map((name) => variable(name) ?? "").find((value) => value !== "");
  return given ?? (Deno.build.os === "windows" ? "C:\\Windows" : "/tmp");
}

function prefix(): string {
  return prefixOf(self ?? { space: "0", pid: Deno.pid, start: "0" });
}

function unlessGone(path: string): void {
  try {
    Deno.removeSync(path, { recursive: true });
  } catch {
    // The path is already removed.
  }
}
