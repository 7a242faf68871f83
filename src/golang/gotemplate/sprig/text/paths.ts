/** sprig's functions on paths, with `/` as separator on every system: templates describe containers. */
import { trimmedEnd } from "../../../../base/text/mod.ts";
import { type FuncMap, pure } from "../../../go_value.ts";
import { STRING, text } from "../args.ts";

/** Returns the path functions by name. The `os` variants are the same functions. */
export function pathFunctions(): FuncMap {
  const base = pure([STRING], (path) => basename(text(path)));
  const dir = pure([STRING], (path) => clean(text(path).slice(0, text(path).lastIndexOf("/") + 1)));
  const cleaned = pure([STRING], (path) => clean(text(path)));
  const ext = pure([STRING], (path) => /\.[^./]*$/.exec(text(path))?.[0] ?? "");
  const isAbs = pure([STRING], (path) => text(path).startsWith("/"));
  return {
    base,
    dir,
    clean: cleaned,
    ext,
    isAbs,
    osBase: base,
    osDir: dir,
    osClean: cleaned,
    osExt: ext,
    osIsAbs: isAbs,
  };
}

function basename(path: string): string {
  if (path === "") return ".";
  const trimmed = trimmedEnd(path, "/");
  return trimmed === "" ? "/" : trimmed.slice(trimmed.lastIndexOf("/") + 1);
}

/** The shortest equivalent path, without empty, `.` or inner `..` elements; `.` if no element remains. */
function clean(path: string): string {
  const rooted = path.startsWith("/");
  const kept: string[] = [];
  for (const element of path.split("/")) {
    if (element === "" || element === ".") continue;
    if (element !== "..") kept.push(element);
    else if (kept.length > 0 && kept.at(-1) !== "..") kept.pop();
    else if (!rooted) kept.push("..");
  }
  const joined = kept.join("/");
  return rooted ? "/" + joined : joined || ".";
}
