/** One output for each input: the file itself, or a file of the same name in a folder. */
import { UsageError } from "../../base/errors.ts";
import type { World } from "../../platform/world.ts";
import type { ManifestInput } from "../../inject/mod.ts";

export interface Places {
  /** The path of an input's output. Errors: a UsageError for an input that is no file. */
  readonly of: (input: ManifestInput) => string;
  /** Writes an output even if it equals its input. */
  readonly writesAll: boolean;
}

/** Each file is its own output. */
export const IN_PLACE: Places = {
  of: ({ file, name }) => name === undefined ? refuse(file, "it cannot be written in place") : file,
  writesAll: false,
};

/** Files of the same names in a folder. Errors of `of`: a UsageError too if two inputs have the same name. */
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

/** Holds the outputs of all files in memory until it is known that nothing failed. */
export class HeldFiles {
  readonly #files: { readonly path: string; readonly texts: string[] }[] = [];

  begin(path: string): void {
    this.#files.push({ path, texts: [] });
  }

  write(text: string): void {
    this.#files.at(-1)?.texts.push(text);
  }

  /**
   * Writes the files for which `isWanted` holds, each in one step, and makes their folders. Returns their paths.
   * Errors: the MeshError of the first file that cannot be written; the files before it are written.
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
