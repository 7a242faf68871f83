import { mustRun } from "../compile/run.ts";

/** The variable with the launcher of the bundled sources, for tests that start the program as a process. */
export const BUNDLED = "MESH_BUNDLED";

/**
 * Bundles the sources into a folder like a checkout and returns its launcher: a start takes half of the processor time of a start
 * from 300 modules. It is `plugin/kubectl-mesh` but for the paths, so that names and closed streams reach the program in the same
 * way. Errors: the sources cannot be bundled.
 */
export async function bundledProgram(root: string, folder: string): Promise<string> {
  const { unstable } = JSON.parse(await Deno.readTextFile(`${root}/deno.json`));
  for (const name of ["plugin", "src"]) await Deno.mkdir(`${folder}/${name}`, { recursive: true });
  // The program starts helpers with this file too.
  await Deno.writeTextFile(`${folder}/deno.json`, JSON.stringify({ unstable, lock: false }));
  const flags = ["--quiet", "--frozen", "--platform", "deno", "--code-splitting", "--outdir", `${folder}/src`];
  await mustRun([Deno.execPath(), "bundle", ...flags, `${root}/src/main.ts`], {}, root);
  for await (const { name } of Deno.readDir(`${folder}/src`)) {
    const file = `${folder}/src/${name}`;
    await Deno.writeTextFile(file, withLateImports(await Deno.readTextFile(file)));
  }
  const launcher = `${folder}/plugin/kubectl-mesh`;
  const text = launcherOf(await Deno.readTextFile(`${root}/plugin/kubectl-mesh`), Deno.execPath());
  await Deno.writeTextFile(launcher, text, { mode: 0o755 });
  return launcher;
}

/**
 * A module whose `import()` of commands are not seen before they run: Deno reads all modules that it finds in an `import()` of a text,
 * 170 of them at each start, and a command needs 20. What a command imports late is read with the command, as from sources: by then
 * the program may have given its permission to read away.
 */
export function withLateImports(code: string): string {
  // The bundler writes the path of each source above it.
  return code.split(/^(?=\/\/ src\/)/m)
    .map((part) => part.startsWith("// src/cli/") ? part.replaceAll(LATE_IMPORT, "import(String($1))") : part)
    .join("");
}

const LATE_IMPORT = /\bimport\(("\.\/[^"\n]+\.js")\)/g;

/** What the launcher of a checkout does for its first run, up to its last command: a bundle has all that it needs. */
const FIRST_RUN = "# Deno shows a bar";

/** The launcher of a checkout, for the bundle beside it. Its code cache is gone with the folder. */
export function launcherOf(text: string, deno: string): string {
  const start = `exec "$root/tools/deno" run $quiet --config "$root/plugin/deno.json" --frozen `;
  const main = `"$root/src/main.ts"`;
  const [first, last] = [text.indexOf(FIRST_RUN), text.indexOf(start)];
  if (first < 0 || last < first || !text.includes(main)) {
    throw new Error("plugin/kubectl-mesh starts the program in another way");
  }
  const command = text.slice(last + start.length).replace(main, `"$root/src/main.js"`);
  return `${
    text.slice(0, first)
  }export DENO_DIR="$root/cache"\nexec "${deno}" run --config "$root/deno.json" ${command}`;
}
