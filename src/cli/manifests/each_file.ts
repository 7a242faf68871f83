/** One output per input: the input file itself, or a file of the same name in another folder. */
import { UsageError } from "../../base/errors.ts";
import type { World } from "../../platform/world.ts";
import type { ManifestInput } from "../../inject/mod.ts";

export interface Places {
  /** Returns the output path for an input. Throws a UsageError for an input that is not a file. */
  readonly of: (input: ManifestInput) => string;
  /** Whether to write outputs that equal their inputs. */
  readonly writesAll: boolean;
}

/** Writes each file in place. */
export const IN_PLACE: Places = {
  of: ({ file, name }) => name === undefined ? refuse(file, "it cannot be written in place") : file,
  writesAll: false,
};

/** Writes files of the same names to a folder. `of` also throws a UsageError if two inputs have the same name. */
export function inFolder(folder: string): Places {
  const taken = new Map<string, string>();
  return {
    of({ file, name }) {
      if (name === undefined) return refuse(file, `it has no name in "${folder}/"`);
      const path = `${folder}/${name}`;
      const other = taken.get(path);
      if (other !== undefined) throw new UsageError(`"${other}" and "${file}" would both be written to "${path}"`);
      taken.set(path, file);
      return path;
    },
    writesAll: true,
  };
}

function refuse(file: string, why: string): never {
  throw new UsageError(`The input "${file}" is not a file: ${why}`, { hint: "name files with -f" });
}

/** Holds the outputs of all files in memory until all resources have succeeded. */
export class HeldFiles {
  readonly #files: { readonly path: string; readonly texts: string[] }[] = [];

  begin(path: string): void {
    this.#files.push({ path, texts: [] });
  }

  write(text: string): void {
    this.#files.at(-1)?.texts.push(text);
  }

  /**
   * Writes the files for which `isWanted` returns true, each atomically, and creates their folders. Returns their paths.
   * Rejects with the MeshError of the first file that cannot be written; the files before it are written.
   */
  async commit(world: World, isWanted: (path: string) => boolean): Promise<readonly string[]> {
    const wanted = this.#files.filter(({ path }) => isWanted(path));
    for (const folder of new Set(wanted.map(({ path }) => folderOf(path)))) {
      if (folder !== "" && await world.files.stat(folder) === undefined) await world.files.makeFolder(folder, 0o755);
    }
    for (const { path, texts } of wanted) {
      const replacement = world.files.replace(path);
      try {
        replacement.write(texts.join(""));
        replacement.commit();
      } catch (error) {
        replacement.abort();
        throw error;
      }
    }
    return wanted.map(({ path }) => path);
  }
}

function folderOf(path: string): string {
  const slash = path.lastIndexOf("/");
  return slash < 0 ? "" : path.slice(0, slash);
}
