import { mustRun } from "./run.ts";
import type { Script } from "./pack.ts";

/** The prefix of imports of other chunks: not a relative path, so that the second pass of the bundler keeps them. */
const SCHEME = "mesh:";

/**
 * Turns the modules of a split bundle into classic scripts: V8 takes a code cache for those only (`node:vm`). The bundler converts
 * each module to CommonJS, so that exports stay live, and a function with CommonJS's parameters surrounds it. Minified, because V8
 * keeps the source beside the bytecode: 3 of 80 ms.
 */
export async function toScripts(folder: string): Promise<Script[]> {
  const names: string[] = [];
  for await (const { name } of Deno.readDir(folder)) names.push(name);
  for (const name of names) await nameChunks(`${folder}/${name}`, names);
  const scripts: Script[] = [];
  for (const name of names) scripts.push({ name, source: await toScript(`${folder}/${name}`) });
  return scripts;
}

/** How the bundler lets CommonJS packages require modules of Node.js: by the URL of the module, which a script has not. */
const REQUIRE = /import \{ createRequire as (\w+) \} from "node:module";\nvar __require = \1\(import\.meta\.url\);/;

async function nameChunks(file: string, names: readonly string[]): Promise<void> {
  const code = await Deno.readTextFile(file);
  const named = code.replace(REQUIRE, "var __require = (name) => globalThis.process.getBuiltinModule(name);")
    .replaceAll(
      /(from |import\(|import )"\.\/([^"\n]+)"/g,
      (all, before: string, name: string) => names.includes(name) ? `${before}"${SCHEME}${name}"` : all,
    );
  await Deno.writeTextFile(file, named);
}

async function toScript(file: string): Promise<string> {
  const form = ["--minify", "--platform", "deno", "--format", "cjs", "--external", `${SCHEME}*`];
  await mustRun([Deno.execPath(), "bundle", "--quiet", "--no-config", ...form, "--output", `${file}.cjs`, file]);
  const code = (await Deno.readTextFile(`${file}.cjs`))
    .replaceAll(new RegExp(`require\\("${SCHEME}`, "g"), 'require("')
    .replaceAll(new RegExp(`\\bimport\\("(?:${SCHEME})?`, "g"), '__load("');
  return `((require,module,__load)=>{"use strict";const exports=module.exports;${code}\n})`;
}
