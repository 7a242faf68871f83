import { mustRun } from "./run.ts";
import { type Script, START } from "./pack.ts";
import { namesIn } from "./source_state.ts";

/** The modules of a bundle by name. */
type Chunks = ReadonlyMap<string, string>;

/**
 * The prefix for imports of other chunks. It is not a relative path, so the second run of the bundler leaves them
 * alone.
 */
const SCHEME = "mesh:";

/**
 * Turns the modules of a split bundle into classic scripts, because V8 accepts a code cache only for these
 * (`node:vm`). The bundler converts each module to CommonJS, which keeps exports live, inside a function with the
 * parameters of a CommonJS module. The scripts are minified, because V8 keeps the source next to the bytecode: this
 * saves 3 of 80 ms.
 *
 * The modules that `main.js` imports statically are one script, {@link START}: as 17 separate scripts they would add 2
 * ms to a start of 36 ms.
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
 * Makes one script of the modules and everything they import statically. It exports `modules`: by name, functions that
 * return an object with the exports of a module. The bundler's own export objects would be filled at every start, with
 * 400 properties.
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

/** The names that a module exports, in the bundler's output. */
function exportsOf(code: string): string[] {
  const [, names = ""] = /^export \{([^}]*)\};$/m.exec(code) ?? [];
  return names.split(",").map((name) => name.replace(/^.* as /s, "").trim()).filter((name) => name !== "");
}

/** Returns the module and all modules that it imports statically, directly or not. */
function staticImports(name: string, chunks: Chunks, found = new Set<string>()): Set<string> {
  if (found.has(name)) return found;
  found.add(name);
  const imports = (chunks.get(name) ?? "").matchAll(/^(?:import|export|\}).*"\.\/([^"\n]+)";$/gm);
  for (const [, other = ""] of imports) staticImports(other, chunks, found);
  return found;
}

/**
 * How the bundler lets CommonJS packages require modules of Node.js: with the URL of the module, which a script does
 * not have.
 */
const REQUIRE = /import \{ createRequire as (\w+) \} from "node:module";\nvar __require = \1\(import\.meta\.url\);/;

/**
 * Changes the imports of other chunks in a module to the names that the loader knows. Modules of the start script keep
 * the names of each other.
 */
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
