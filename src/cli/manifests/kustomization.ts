/** Folders that kustomize builds. */
import { MeshError } from "../../core/errors.ts";
import type { DirectoryEntry, World } from "../../core/world/world.ts";
import type { ManifestInput } from "../../inject/mod.ts";

const NAMES = ["kustomization.yaml", "kustomization.yml", "Kustomization"];

/** What to say about a folder whose files are read, though it is to be built; `undefined` for any other folder. */
export function kustomizationWarning(folder: string, entries: readonly DirectoryEntry[]): string | undefined {
  if (!entries.some(({ name }) => NAMES.includes(name))) return undefined;
  return `The folder "${folder}" is a kustomization, whose files are not meant to be read one by one: ` +
    `build it with -k ${folder}`;
}

/** Builds a kustomization with kubectl. Errors: a MeshError with what kubectl says. */
export async function buildKustomization(world: World, folder: string): Promise<ManifestInput> {
  const { code, stdout, stderr } = await world.processes.run({ command: "kubectl", args: ["kustomize", folder] });
  if (code === 127) throw new MeshError(`Cannot build the kustomization "${folder}": kubectl is not on PATH`);
  if (code !== 0) {
    throw new MeshError(`Cannot build the kustomization "${folder}": ${stderr.replace(/^error: /, "").trim()}`);
  }
  return {
    file: folder,
    async *chunks() {
      yield await Promise.resolve(new TextEncoder().encode(stdout));
    },
  };
}
