import { importsOf } from "./arrows.ts";
import { read } from "./source.ts";

/** The files of the project that are loaded with a file: itself, and what it imports other than by `import()`. */
export function loadedWith(path: string): ReadonlySet<string> {
  const loaded = new Set([path]);
  for (const each of loaded) {
    for (const { to, how } of importsOf(each, read(each))) if (how === "eager") loaded.add(to);
  }
  return loaded;
}
