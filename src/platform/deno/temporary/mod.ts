/** Files and folders that this program keeps for a moment, in a folder for temporary files or beside an output. Nothing of them stays behind. */
import { guard } from "./guard.ts";
import { type Owner, prefixOf, thisOwner } from "./owner.ts";
import type { TemporaryFolder } from "../../world.ts";
import { removeStale } from "./stale.ts";
import { variable } from "../variable.ts";

let self: Owner | undefined;
const tidied = new Set<string>();

/**
 * Removes what killed processes left, once for each folder. It reads `/proc`, which Deno denies to a process that has given up a permission: who
 * makes something temporary after that calls this before.
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
      // Not before: then a signal would end the process while the folder is there.
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

/** The path of a file in a folder that is only there until it replaces an output. What killed processes left there is removed. */
export function temporaryName(parent: string): string {
  tidyTemporary(parent);
  return `${parent}/${prefix()}${crypto.randomUUID().slice(0, 8)}`;
}

/** Opens a file that has no name any more. Throws errors of the runtime. */
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
    // It has been removed before.
  }
}
