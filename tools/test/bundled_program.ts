import { mustRun } from "../compile/run.ts";

/** The variable with the path of the bundle's launcher, for tests that start the program as a process. */
export const BUNDLED = "MESH_BUNDLED";

/**
 * Bundles the sources into a folder that looks like a checkout, and returns the path of its launcher. A bundle takes
 * half of the processor time that 300 separate modules take to start. Apart from its paths, the launcher is
 * `plugin/kubectl-mesh`, so the program sees the same names and closed streams. Throws if the sources cannot be
 * bundled.
 */
export async function bundledProgram(root: string, folder: string): Promise<string> {
  const { unstable } = JSON.parse(await Deno.readTextFile(`${root}/deno.json`));
  for (const name of ["plugin", "src"]) await Deno.mkdir(`${folder}/${name}`, { recursive: true });
  // The program also starts its helper processes with this file.
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
 * Hides the `import()` of commands in a module until they run. Deno reads every module that it finds in an `import()`
 * of a literal, 170 modules at each start, while a command needs 20. Other late imports of a command stay visible and
 * are read together with it, as they are from sources, because the program may have given up the permission to read
 * before they run.
 */
export function withLateImports(code: string): string {
  // The bundler writes the path of each source file in a comment above its code.
  return code.split(/^(?=\/\/ src\/)/m)
    .map((part) => part.startsWith("// src/cli/") ? part.replaceAll(LATE_IMPORT, "import(String($1))") : part)
    .join("");
}

const LATE_IMPORT = /\bimport\(("\.\/[^"\n]+\.js")\)/g;

/**
 * Begins the part of the checkout's launcher that prepares the first run. It ends before the launcher's last command. A
 * bundle does not need it.
 */
const FIRST_RUN = "# Deno shows a bar";

/**
 * Turns the launcher of a checkout into the launcher of a bundle. Its code cache is in the bundle's folder and removed
 * with it.
 */
export function launcherOf(text: string, deno: string): string {
  const start = `exec "$root/tools/deno" run $quiet --config "$root/plugin/deno.json" --frozen `;
  const main = `"$root/src/main.ts"`;
  const [first, last] = [text.indexOf(FIRST_RUN), text.indexOf(start)];
  if (first < 0 || last < first || !text.includes(main)) {
    throw new Error("plugin/kubectl-mesh has changed: adapt tools/test/bundled_program.ts");
  }
  const command = text.slice(last + start.length).replace(main, `"$root/src/main.js"`);
  return `${
    text.slice(0, first)
  }export DENO_DIR="$root/cache"\nexec "${deno}" run --config "$root/deno.json" ${command}`;
}
