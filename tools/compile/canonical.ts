import { namesIn } from "./source_state.ts";

/** The entry of a bundle. */
const ENTRY = "main.js";

/** How the bundler names a CommonJS module of npm, and each module in a comment: by its path in Deno's cache folder. */
const PATHS = /^(\/\/ |\s*")[^"\n]*\/npm\/[^/"\n]+\//gm;

const IMPORTED = /"\.\/([^"\n]+\.js)"/g;

/**
 * Gives the files of a split bundle names and texts that are the same wherever it is built. The bundler names a file by a
 * hash of its text, and writes paths of the machine into that: here a file is named by its place in the order of imports.
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

/** Makes the bundle in a folder {@link canonical}. */
export async function makeCanonical(folder: string): Promise<void> {
  const names = await namesIn(folder);
  const texts = await Promise.all(names.map((name) => Deno.readTextFile(`${folder}/${name}`)));
  const files = canonical(new Map(names.map((name, at) => [name, texts[at] ?? ""])));
  for (const name of names) await Deno.remove(`${folder}/${name}`);
  for (const [name, text] of files) await Deno.writeTextFile(`${folder}/${name}`, text);
}
