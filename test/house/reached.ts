import { importsOf } from "./arrows.ts";
import { read } from "./source.ts";

/** Returns the file and all its static imports, direct or not. */
export function loadedWith(path: string): ReadonlySet<string> {
  const loaded = new Set([path]);
  for (const each of loaded) {
    for (const { to, how } of importsOf(each, read(each))) if (how === "eager") loaded.add(to);
  }
  return loaded;
}
