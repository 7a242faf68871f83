/** Diffs for `--diff`. */
import { MeshError } from "../../base/errors.ts";
import { isPlain } from "../../platform/terminal.ts";
import type { World } from "../../platform/world.ts";
import type { Sink } from "../../inject/mod.ts";
import { colored, UnifiedDiff } from "./unified_diff.ts";

export interface Differ {
  readonly add: NonNullable<Sink["document"]>;
  /** Prints the differences and returns whether there are any. Rejects with a MeshError if the external program fails. */
  end(): Promise<boolean>;
  /** Removes temporary files. */
  drop(): void;
}

/** Creates the differ for `--diff=KIND`. */
export async function differ(world: World, kind: "unified" | "external"): Promise<Differ> {
  return kind === "unified" ? await unified(world) : external(world);
}

async function unified(world: World): Promise<Differ> {
  const diff = await UnifiedDiff.loaded();
  let differs = false;
  return {
    add(document, text) {
      const lines = diff.of(document, text);
      differs ||= lines !== "";
      if (lines !== "") world.stdout.write(isPlain(world) ? lines : colored(lines));
    },
    end: () => Promise.resolve(differs),
    drop: () => {},
  };
}

/** Default command, the same as in kubectl. Spaces separate the arguments (kubectl, "diff", KUBECTL_EXTERNAL_DIFF). */
const DEFAULT_PROGRAM = "diff -u -N";

/** Creates a differ that writes both versions to folders and compares them with a program. */
function external(world: World): Differ {
  const folder = world.files.temporaryFolder();
  const sides = [`${folder.path}/before`, `${folder.path}/after`] as const;
  const made = Promise.all(sides.map((side) => world.files.makeFolder(side, 0o700)));
  const pending: Promise<void>[] = [];
  let count = 0;
  return {
    add({ file, index, text }, next) {
      const name = `${String(++count).padStart(4, "0")}-${file.replace(/[^A-Za-z0-9.-]+/g, "_")}-${index}.yaml`;
      pending.push(made.then(() => {
        world.files.writeText(`${sides[0]}/${name}`, text, 0o600);
        world.files.writeText(`${sides[1]}/${name}`, next, 0o600);
      }));
    },
    async end() {
      await made;
      await Promise.all(pending);
      const program = world.env.get("KUBECTL_EXTERNAL_DIFF") || DEFAULT_PROGRAM;
      const [command = "diff", ...args] = program.split(" ").filter((part) => part !== "");
      const { code, stdout, stderr } = await world.processes.run({ command, args: [...args, ...sides] });
      world.stdout.write(stdout);
      if (code <= 1) return code === 1;
      const why = code === 127 ? "it is not on PATH" : stderr.trim() || `exit code ${code}`;
      throw new MeshError(`Cannot compare with "${command}": ${why}`, {
        exitCode: 2,
        hint: "set KUBECTL_EXTERNAL_DIFF to a diff program",
      });
    },
    drop: folder.remove,
  };
}
