import { trimmedEnd } from "../../base/text/mod.ts";
import { MeshError } from "../../base/errors.ts";
import type { World } from "../../platform/world.ts";
import { KUBECTL } from "./scripts.ts";

export interface Installed {
  readonly path: string;
  readonly isNew: boolean;
  readonly isOnPath: boolean;
}

/** The script for Windows, because cmd.exe cannot run sh scripts. */
const WINDOWS = "@rem kubectl mesh completion install-kubectl\r\n@kubectl-mesh __complete %* 2>nul\r\n";

/**
 * Writes `kubectl_complete-mesh` to the given folder, otherwise to the folder of the kubectl-mesh that kubectl starts, otherwise to
 * the first writable folder of PATH below the home folder. Does not overwrite a file from another program.
 * Throws a MeshError if another program's file exists, if no folder is found, or if the file cannot be written.
 */
export async function installForKubectl(world: World, folder: string | undefined): Promise<Installed> {
  const onPath = pathFolders(world);
  const folders = folder === undefined ? await usualFolders(world, onPath) : [folder];
  let failure: unknown;
  for (const each of folders) {
    const path = `${each}/${world.machine.os === "windows" ? "kubectl_complete-mesh.cmd" : "kubectl_complete-mesh"}`;
    try {
      return { path, isNew: await put(world, path), isOnPath: onPath.includes(each) };
    } catch (error) {
      if (!(error instanceof MeshError) || error instanceof ForeignFile) throw error;
      failure ??= new MeshError(error.message, {
        hint: "name another folder on PATH with --dir",
      });
    }
  }
  throw failure ?? new MeshError("No folder in PATH contains kubectl-mesh, so kubectl cannot find it", {
    hint: "add kubectl-mesh to a folder in PATH, or name a folder with --dir",
  });
}

class ForeignFile extends MeshError {}

/** Writes the file unless it exists. Returns whether it is new. */
async function put(world: World, path: string): Promise<boolean> {
  const wanted = world.machine.os === "windows" ? WINDOWS : KUBECTL;
  const found = await world.files.stat(path);
  if (found !== undefined) {
    const text = found.kind === "file" && found.size < 1024 ? await world.files.readText(path) : "";
    if (text === wanted) return false;
    if (!text.includes("kubectl mesh completion install-kubectl")) {
      throw new ForeignFile(`"${path}" exists, and this command did not write it`, {
        hint: "remove it, or name another folder with --dir",
      });
    }
  }
  world.files.writeText(path, wanted, 0o755);
  return true;
}

function pathFolders({ env, machine }: World): string[] {
  const parts = (env.get("PATH") ?? env.get("Path") ?? "").split(machine.os === "windows" ? ";" : ":");
  return parts.map((part) => trimmedEnd(part, "/\\", 1)).filter((part) => part !== "");
}

async function usualFolders(world: World, onPath: readonly string[]): Promise<string[]> {
  const name = world.machine.os === "windows" ? "kubectl-mesh.exe" : "kubectl-mesh";
  const found = await Promise.all(onPath.map((folder) => world.files.stat(`${folder}/${name}`)));
  const own = onPath.find((_, index) => found[index]?.kind === "file");
  if (own === undefined) return [];
  const home = world.env.get("HOME") ?? world.env.get("USERPROFILE");
  return [own, ...onPath.filter((folder) => home !== undefined && folder.startsWith(home) && folder !== own)];
}
