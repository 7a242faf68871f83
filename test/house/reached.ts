import { importsOf } from "./arrows.ts";
import { read } from "./source.ts";

/** The files that are loaded with a file: itself and its static imports. */
export function loadedWith(path: string): ReadonlySet<string> {
  const loaded = new Set([path]);
  for (const each of loaded) {
    for (const { to, how } of importsOf(each, read(each))) if (how === "eager") loaded.add(to);
  }
  return loaded;
}
