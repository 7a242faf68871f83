import { mustRun } from "./run.ts";
import { type Script, START } from "./pack.ts";
import { namesIn } from "./source_state.ts";

/** The prefix of imports of other chunks: not a relative path, so that the second pass of the bundler keeps them. */
const SCHEME = "mesh:";

/**
 * Turns the modules of a split bundle into classic scripts: V8 takes a code cache for those only (`node:vm`). The bundler converts
 * each module to CommonJS, so that exports stay live, and a function with CommonJS's parameters surrounds it. Minified, because V8
 * keeps the source beside the bytecode: 3 of 80 ms.
 *
 * What `main.js` imports statically is one script, {@link START}, which exports these modules by their names: as scripts of their
 * own, these 17 cost each start 2 of 36 ms.
 */
export async function toScripts(folder: string): Promise<Script[]> {
  const chunks = new Map<string, string>();
  for (const name of await namesIn(folder)) chunks.set(name, await Deno.readTextFile(`${folder}/${name}`));
  const atStart = staticImports("main.js", chunks);
  for (const [name, code] of chunks) {
    await Deno.writeTextFile(`${folder}/${name}`, named(code, chunks, atStart.has(name)));
  }
  const modules = [...atStart].map((name) => `export * as "${name}" from "./${name}";\n`);
  await Deno.writeTextFile(`${folder}/${START}`, modules.join(""));
  const scripts: Script[] = [];
  for (const name of [START, ...chunks.keys()].filter((name) => !atStart.has(name))) {
    scripts.push({ name, source: await toScript(`${folder}/${name}`) });
  }
  return scripts;
}

/** The modules that load with one, itself among them. */
function staticImports(name: string, chunks: ReadonlyMap<string, string>, found = new Set<string>()): Set<string> {
  if (found.has(name)) return found;
  found.add(name);
  for (const [, other = ""] of (chunks.get(name) ?? "").matchAll(/^(?:import|export|\}).*"\.\/([^"\n]+)";$/gm)) {
    staticImports(other, chunks, found);
  }
  return found;
}

/** How the bundler lets CommonJS packages require modules of Node.js: by the URL of the module, which a script has not. */
const REQUIRE = /import \{ createRequire as (\w+) \} from "node:module";\nvar __require = \1\(import\.meta\.url\);/;

/** A module with the names by which the loader knows other chunks; those of the start stay together. */
function named(code: string, chunks: ReadonlyMap<string, string>, isAtStart: boolean): string {
  const imports = isAtStart ? /(import\()"\.\/([^"\n]+)"/g : /(from |import\(|import )"\.\/([^"\n]+)"/g;
  return code.replace(REQUIRE, "var __require = (name) => globalThis.process.getBuiltinModule(name);")
    .replaceAll(imports, (all, before: string, name: string) => chunks.has(name) ? `${before}"${SCHEME}${name}"` : all);
}

async function toScript(file: string): Promise<string> {
  const form = ["--minify", "--platform", "deno", "--format", "cjs", "--external", `${SCHEME}*`];
  await mustRun([Deno.execPath(), "bundle", "--quiet", "--no-config", ...form, "--output", `${file}.cjs`, file]);
  const code = (await Deno.readTextFile(`${file}.cjs`))
    .replaceAll(new RegExp(`require\\("${SCHEME}`, "g"), 'require("')
    .replaceAll(new RegExp(`\\bimport\\("(?:${SCHEME})?`, "g"), '__load("');
  return `((require,module,__load)=>{"use strict";const exports=module.exports;${code}\n})`;
}
