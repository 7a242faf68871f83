/** One output per input: the input file itself, or a file of the same name in another folder. */
import { posix } from "node:path";
import { UsageError } from "../../base/errors.ts";
import type { World } from "../../platform/world.ts";
import type { ManifestInput } from "../../inject/mod.ts";

/**
 * Returns the output path of each input: the input itself, or a file of the same name in `folder`. Throws a UsageError
 * for an input that is not a file, and for two inputs with the same name.
 */
export function outputPaths(inputs: readonly ManifestInput[], folder: string | undefined): string[] {
  const taken = new Map<string, string>();
  return inputs.map(({ file, name }) => {
    if (name === undefined) {
      const why = folder === undefined ? "it cannot be written in place" : `it has no name in "${folder}/"`;
      throw new UsageError(`The input "${file}" is not a file: ${why}`, { hint: "name files with -f" });
    }
    if (folder === undefined) return file;
    const path = `${folder}/${name}`;
    const other = taken.get(path);
    if (other !== undefined) throw new UsageError(`"${other}" and "${file}" would both be written to "${path}"`);
    taken.set(path, file);
    return path;
  });
}

/**
 * Throws a UsageError if the folder of the outputs is inside a folder that is read recursively, because the next run would
 * read the outputs.
 */
export function refuseNested(world: Pick<World, "env">, folder: string, inputs: readonly string[]): void {
  const outer = inputs.find((input) => whole(world, folder).startsWith(`${whole(world, input).replace(/\/$/, "")}/`));
  if (outer === undefined) return;
  throw new UsageError(`Cannot write to "${folder}/": it is inside the input folder "${outer}", which -R reads`, {
    hint: "the next run would read the outputs too: name a folder outside of it",
  });
}

/** Throws a UsageError if an output would replace its own input: only -i does that. */
export function refuseReplaced(
  world: Pick<World, "env">,
  paths: readonly string[],
  inputs: readonly ManifestInput[],
): void {
  const replaced = inputs.find(({ file }, at) => whole(world, paths[at] ?? "") === whole(world, file));
  if (replaced === undefined) return;
  throw new UsageError(`The output would replace the input "${replaced.file}"`, {
    hint: "name another folder, or change the files in place with -i",
  });
}

function whole({ env }: Pick<World, "env">, path: string): string {
  return posix.resolve("/", env.get("PWD") ?? "", path);
}

/** The output of one input, which is held in memory until all resources have succeeded. */
export interface HeldFile {
  readonly path: string;
  readonly texts: string[];
  /** Whether the file differs from its input. */
  isChanged: boolean;
}

/**
 * Writes files, each atomically, and creates their folders. Rejects with the MeshError of the first file that cannot be
 * written; the files before it are written.
 */
export async function writeFiles(world: World, files: readonly HeldFile[]): Promise<void> {
  for (const folder of new Set(files.map(({ path }) => path.slice(0, Math.max(0, path.lastIndexOf("/")))))) {
    if (folder !== "" && await world.files.stat(folder) === undefined) await world.files.makeFolder(folder, 0o755);
  }
  for (const { path, texts } of files) {
    const replacement = world.files.replace(path);
    try {
      replacement.write(texts.join(""));
      replacement.commit();
    } catch (error) {
      replacement.abort();
      throw error;
    }
  }
}
