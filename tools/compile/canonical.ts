import { namesIn } from "./source_state.ts";

/** The entry module of a bundle. */
const ENTRY = "main.js";

/**
 * Paths into Deno's npm cache. The bundler uses them as names of CommonJS modules, and in a comment above each module.
 */
const PATHS = /^(\/\/ |\s*")[^"\n]*\/npm\/[^/"\n]+\//gm;

const IMPORTED = /"\.\/([^"\n]+\.js)"/g;

/**
 * Makes the file names and texts of a split bundle independent of the machine. The bundler names a file by a hash of
 * its text, which contains paths of the machine; here, files are numbered in the order in which they are imported.
 */
export function canonical(files: ReadonlyMap<string, string>): Map<string, string> {
  const names = new Map([[ENTRY, ENTRY]]);
  for (const name of names.keys()) {
    for (const [, other = ""] of (files.get(name) ?? "").matchAll(IMPORTED)) {
      if (files.has(other) && !names.has(other)) names.set(other, other.replace(/-[^-]*$/, `-${names.size}.js`));
    }
  }
  const left = [...files.keys()].filter((name) => !names.has(name));
  if (left.length > 0) throw new Error(`The bundle has files that nothing imports: ${left[0]}`);
  return new Map([...names].map(([name, own]) => {
    const text = (files.get(name) ?? "").replaceAll(PATHS, "$1npm/");
    return [own, text.replaceAll(IMPORTED, (all, other: string) => names.has(other) ? `"./${names.get(other)}"` : all)];
  }));
}

/** Rewrites the bundle in a folder with {@link canonical}. */
export async function makeCanonical(folder: string): Promise<void> {
  const names = await namesIn(folder);
  const texts = await Promise.all(names.map((name) => Deno.readTextFile(`${folder}/${name}`)));
  const files = canonical(new Map(names.map((name, at) => [name, texts[at] ?? ""])));
  for (const name of names) await Deno.remove(`${folder}/${name}`);
  for (const [name, text] of files) await Deno.writeTextFile(`${folder}/${name}`, text);
}
