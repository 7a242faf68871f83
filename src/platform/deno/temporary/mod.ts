/**
 * Temporary files and folders, in the folder for temporary files or beside an output. The program removes all of them.
 */
import { guard } from "./guard.ts";
import { type Owner, prefixOf, thisOwner } from "./owner.ts";
import type { TemporaryFolder } from "../../world.ts";
import { removeStale } from "./stale.ts";
import { variable } from "../variable.ts";

let self: Owner | undefined;
const tidied = new Set<string>();

/**
 * Removes what killed processes left, once for each folder. It reads `/proc`, which Deno denies to a process that has given up a
 * permission: call it before, if something temporary is needed afterwards.
 */
export function tidyTemporary(parent = usualParent()): void {
  self ??= thisOwner();
  if (self === undefined) return;
  if (!tidied.has(parent)) removeStale(parent, self);
  tidied.add(parent);
}

/** Makes a folder in a parent. Throws errors of the runtime. */
export function temporaryFolder(parent: string): TemporaryFolder {
  tidyTemporary(parent);
  let path: string | undefined;
  const remove = () => {
    try {
      if (path !== undefined) unlessGone(path);
      path = undefined;
    } finally {
      // Last: without the guard a signal would end the process while the folder still exists.
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

/** A path for a new file that will replace an output in this folder. What killed processes left there is removed. */
export function temporaryName(parent: string): string {
  tidyTemporary(parent);
  return `${parent}/${prefix()}${crypto.randomUUID().slice(0, 8)}`;
}

/** Opens a file whose name is already removed. Throws errors of the runtime. */
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

/** The folder for temporary files that the environment names; an empty name counts as none, as in Go. Errors: {@link variable}. */
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
    // It is removed already.
  }
}
