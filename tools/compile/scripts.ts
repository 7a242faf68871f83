import { mustRun } from "./run.ts";
import { BRIEF, briefStart, type Script, START } from "./pack.ts";
import { namesIn } from "./source_state.ts";

/** The modules of a bundle by name. */
type Chunks = ReadonlyMap<string, string>;

/** The prefix of imports of other chunks: not a relative path, so that the second pass of the bundler keeps them. */
const SCHEME = "mesh:";

/** The part of js-yaml in a module of the bundle, a comment, and a value in it. */
const JS_YAML = /^\/\/ npm\/js-yaml\/.*\n(?:(?!\/\/ ).*\n)*/gm;
const COMMENT = /^ *\/\*\*[^]*?\*\/\n/gm;
const VALUE = /^var ([\w$]+) = (?:.*;|.*[[({]\n(?:[ }].*\n)*?[\])}]+;)\n/gm;

/**
 * A module without the values of js-yaml that this program never uses: expressions and schemas for its writer, which take 0.7 ms when
 * they load. The bundler cannot know that nothing else happens when they are made.
 */
export function withoutUnused(code: string): string {
  const text = code.replaceAll(JS_YAML, (library) => library.replaceAll(COMMENT, ""));
  const isUsed = (name: string) =>
    [...text.matchAll(new RegExp(`(?<![\\w$])${RegExp.escape(name)}(?![\\w$])`, "g"))].length > 1;
  const less = text.replaceAll(
    JS_YAML,
    (library) => library.replaceAll(VALUE, (all, name: string) => isUsed(name) ? all : ""),
  );
  return less === code ? code : withoutUnused(less);
}

/**
 * Turns the modules of a split bundle into classic scripts: V8 takes a code cache for those only (`node:vm`). The bundler converts
 * each module to CommonJS, so that exports stay live, and a function with CommonJS's parameters surrounds it. Minified, because V8
 * keeps the source beside the bytecode: 3 of 80 ms.
 *
 * What `main.js` imports statically is one script, {@link START}: as scripts of their own, these 17 cost each start 2 of 36 ms.
 * {@link BRIEF} has commands with such a script of their own.
 */
export async function toScripts(folder: string): Promise<Script[]> {
  const chunks = new Map<string, string>();
  for (const name of await namesIn(folder)) {
    chunks.set(name, withoutUnused(await Deno.readTextFile(`${folder}/${name}`)));
  }
  const scripts = [await startScript(folder, START, ["main.js"], chunks)];
  for (const [word, sources] of Object.entries(BRIEF)) {
    const late = sources.flatMap((source) => chunksOf(source, chunks));
    // The bundles of tests have no such commands.
    if (late.length > 0) scripts.push(await startScript(folder, briefStart(word), ["main.js", ...late], chunks));
  }
  const atStart = staticImports(["main.js"], chunks);
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
async function startScript(folder: string, name: string, roots: readonly string[], chunks: Chunks): Promise<Script> {
  const own = `${folder}/${name}.modules`;
  await Deno.mkdir(own);
  const imports: string[] = [];
  const modules: string[] = [];
  for (const [at, module] of [...staticImports(roots, chunks)].entries()) {
    const code = chunks.get(module) ?? "";
    await Deno.writeTextFile(`${own}/${module}`, named(code, chunks, true));
    const exported = exportsOf(code);
    imports.push(`import {${exported.map((each) => `${each} as ${each}_${at}`)}} from "./${module}";\n`);
    modules.push(`"${module}":()=>({${exported.map((each) => `get ${each}(){return ${each}_${at}}`)}}),\n`);
  }
  await Deno.writeTextFile(`${own}/${name}`, `${imports.join("")}export const modules={${modules.join("")}};\n`);
  return { name, source: await toScript(`${own}/${name}`) };
}

/** The names that a module of the bundler exports. */
function exportsOf(code: string): string[] {
  const [, names = ""] = /^export \{([^}]*)\};$/m.exec(code) ?? [];
  return names.split(",").map((name) => name.replace(/^.* as /s, "").trim()).filter((name) => name !== "");
}

/** The module of a bundle that holds a source file, which the bundler names in a comment, and what it imports first if ` +` follows. */
function chunksOf(source: string, chunks: Chunks): string[] {
  const [file, plus] = source.split(" ");
  const [name, code = ""] = [...chunks].find(([, code]) => code.includes(`\n// ${file}\n`)) ?? [];
  const [, first] = plus === undefined ? [] : /\bimport\("\.\/([^"\n]+)"\)/.exec(code) ?? [];
  return [name, first].filter((each) => each !== undefined);
}

/** The modules that load with some, themselves among them. */
function staticImports(names: readonly string[], chunks: Chunks, found = new Set<string>()): Set<string> {
  for (const name of names.filter((each) => !found.has(each))) {
    found.add(name);
    const imports = (chunks.get(name) ?? "").matchAll(/^(?:import|export|\}).*"\.\/([^"\n]+)";$/gm);
    staticImports([...imports].map(([, other = ""]) => other), chunks, found);
  }
  return found;
}

/** How the bundler lets CommonJS packages require modules of Node.js: by the URL of the module, which a script has not. */
const REQUIRE = /import \{ createRequire as (\w+) \} from "node:module";\nvar __require = \1\(import\.meta\.url\);/;

/** A module with the names by which the loader knows other chunks; those of the start stay together. */
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
