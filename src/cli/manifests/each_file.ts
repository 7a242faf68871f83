/** An output for each input: the files themselves, or files of the same names in a folder. */
import { UsageError } from "../../base/errors.ts";
import type { Replacement, Scratch, World } from "../../platform/world.ts";
import type { ManifestInput } from "../../inject/mod.ts";
import { holdOutput } from "./held_output.ts";

/** Where outputs go. */
export interface Places {
  /** The path of an input's output. Errors: a UsageError for an input that is no file. */
  readonly of: (input: ManifestInput) => string;
  /** An output is written also if it is the same as its input. */
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
  throw new UsageError(`The input "${file}" is no file: ${why}`, { hint: "name files with -f" });
}

interface Held {
  readonly path: string;
  bytes: number;
}

/** Holds the outputs of all files until it is known that nothing failed. */
export class HeldFiles {
  readonly #encoder = new TextEncoder();
  readonly #files: Held[] = [];
  readonly #held: ReturnType<typeof holdOutput>;

  /** Up to `most` bytes are held in memory. */
  constructor(scratch: (() => Scratch) | undefined, most?: number) {
    this.#held = holdOutput(scratch, most);
  }

  /** Begins the output of a file. */
  begin(path: string): void {
    this.#files.push({ path, bytes: 0 });
  }

  write(text: string): void {
    const bytes = this.#encoder.encode(text);
    const file = this.#files.at(-1);
    if (file !== undefined) file.bytes += bytes.length;
    this.#held.add(bytes);
  }

  /**
   * Writes the files that `isWanted` names, each in one step, and makes their folders. Returns their paths.
   * Errors: the MeshError of the first file that cannot be written; those before it are written.
   */
  async commit(world: World, isWanted: (path: string) => boolean): Promise<readonly string[]> {
    const wanted = this.#files.map(({ path }) => path).filter(isWanted);
    for (const folder of new Set(wanted.map(folderOf))) {
      if (folder !== "" && await world.files.stat(folder) === undefined) await world.files.makeFolder(folder, 0o755);
    }
    const writer = new FileWriter(world, this.#files, isWanted);
    try {
      this.#held.release((bytes) => writer.write(bytes));
      writer.end();
    } catch (error) {
      writer.abort();
      throw error;
    }
    return wanted;
  }

  drop(): void {
    this.#held.drop();
  }
}

/** Cuts a stream of bytes into files. */
class FileWriter {
  readonly #left: Held[];
  #open: Replacement | undefined;

  constructor(
    private readonly world: World,
    files: readonly Held[],
    private readonly isWanted: (path: string) => boolean,
  ) {
    this.#left = files.map((file) => ({ ...file }));
  }

  write(bytes: Uint8Array): void {
    for (let rest = bytes; rest.length > 0;) {
      const file = this.#current();
      const piece = rest.subarray(0, file.bytes);
      this.#open?.write(piece);
      file.bytes -= piece.length;
      rest = rest.subarray(piece.length);
    }
  }

  /** Writes the files behind the last byte, which are empty. */
  end(): void {
    while (this.#left.length > 0) {
      this.#start();
      this.#finish();
    }
  }

  abort(): void {
    this.#open?.abort();
    this.#open = undefined;
  }

  /** The first file that misses bytes. */
  #current(): Held {
    for (;;) {
      const [file] = this.#left;
      if (file === undefined) throw new Error("More was held than the files have");
      this.#start();
      if (file.bytes > 0) return file;
      this.#finish();
    }
  }

  #start(): void {
    const path = this.#left[0]?.path ?? "";
    if (this.isWanted(path)) this.#open ??= this.world.files.replace(path);
  }

  #finish(): void {
    this.#open?.commit();
    this.#open = undefined;
    this.#left.shift();
  }
}

function folderOf(path: string): string {
  const slash = path.lastIndexOf("/");
  return slash < 0 ? "" : path.slice(0, slash);
}
