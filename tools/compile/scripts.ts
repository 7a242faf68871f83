import { mustRun } from "./run.ts";
import { type Script, START } from "./pack.ts";
import { namesIn } from "./source_state.ts";

/** The modules of a bundle by name. */
type Chunks = ReadonlyMap<string, string>;

/** The prefix of imports of other chunks: not a relative path, so that the second pass of the bundler keeps them. */
const SCHEME = "mesh:";

/**
 * Turns the modules of a split bundle into classic scripts: V8 takes a code cache for those only (`node:vm`). The bundler converts
 * each module to CommonJS, so that exports stay live, and a function with CommonJS's parameters surrounds it. Minified, because V8
 * keeps the source beside the bytecode: 3 of 80 ms.
 *
 * What `main.js` imports statically is one script, {@link START}: as scripts of their own, these 17 cost each start 2 of 36 ms.
 */
export async function toScripts(folder: string): Promise<Script[]> {
  const chunks = new Map<string, string>();
  for (const name of await namesIn(folder)) chunks.set(name, await Deno.readTextFile(`${folder}/${name}`));
  const atStart = staticImports("main.js", chunks);
  const scripts = [await startScript(folder, atStart, chunks)];
  for (const [name, code] of chunks) await Deno.writeTextFile(`${folder}/${name}`, named(code, chunks, false));
  for (const name of chunks.keys()) {
    if (!atStart.has(name)) scripts.push({ name, source: await toScript(`${folder}/${name}`) });
  }
  return scripts;
}

/**
 * One script of modules and what they import statically. It exports `modules`: by name, functions that return an object with what
 * each exports. The bundler's own objects for that are filled at every start, with 400 properties.
 */
async function startScript(folder: string, atStart: ReadonlySet<string>, chunks: Chunks): Promise<Script> {
  const own = `${folder}/${START}.modules`;
  await Deno.mkdir(own);
  const imports: string[] = [];
  const modules: string[] = [];
  for (const [at, module] of [...atStart].entries()) {
    const code = chunks.get(module) ?? "";
    await Deno.writeTextFile(`${own}/${module}`, named(code, chunks, true));
    const exported = exportsOf(code);
    imports.push(`import {${exported.map((each) => `${each} as ${each}_${at}`)}} from "./${module}";\n`);
    modules.push(`"${module}":()=>({${exported.map((each) => `get ${each}(){return ${each}_${at}}`)}}),\n`);
  }
  await Deno.writeTextFile(`${own}/${START}`, `${imports.join("")}export const modules={${modules.join("")}};\n`);
  return { name: START, source: await toScript(`${own}/${START}`) };
}

/** The names that a module of the bundler exports. */
function exportsOf(code: string): string[] {
  const [, names = ""] = /^export \{([^}]*)\};$/m.exec(code) ?? [];
  return names.split(",").map((name) => name.replace(/^.* as /s, "").trim()).filter((name) => name !== "");
}

/** The modules that load with one, itself among them. */
function staticImports(name: string, chunks: Chunks, found = new Set<string>()): Set<string> {
  if (found.has(name)) return found;
  found.add(name);
  const imports = (chunks.get(name) ?? "").matchAll(/^(?:import|export|\}).*"\.\/([^"\n]+)";$/gm);
  for (const [, other = ""] of imports) staticImports(other, chunks, found);
  return found;
}

/** How the bundler lets CommonJS packages require modules of Node.js: by the URL of the module, which a script has not. */
const REQUIRE = /import \{ createRequire as (\w+) \} from "node:module";\nvar __require = \1\(import\.meta\.url\);/;

/** A module with the names by which the loader knows other chunks; the names of the start stay together. */
function named(code: string, chunks: Chunks, isAtStart: boolean): string {
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
