/** Patterns in names of files, for shells that do not expand them: by the rules of Go's filepath.Match, as in kubectl. */
import type { World } from "../../platform/world.ts";

/** Whether a name may be a pattern. */
export function isPattern(name: string): boolean {
  return /[*?[]/.test(name);
}

/** The existing paths that match a pattern, sorted. */
export async function matchingPaths(world: World, pattern: string): Promise<readonly string[]> {
  const [first = "", ...rest] = pattern.split("/");
  let paths = first === "" && rest.length > 0 ? ["/"] : await below(world, "", first);
  for (const part of rest) {
    paths = (await Promise.all(paths.map((path) => below(world, path, part)))).flat();
  }
  return paths;
}

/** The entries of a folder that match one part of a pattern. */
async function below(world: World, folder: string, part: string): Promise<string[]> {
  const prefix = folder === "" || folder === "/" ? folder : `${folder}/`;
  if (!isPattern(part)) {
    const path = prefix + part;
    return part === "" || await world.files.stat(path) === undefined ? [] : [path];
  }
  const place = folder === "" ? "." : folder;
  if ((await world.files.stat(place))?.kind !== "directory") return [];
  const pattern = partPattern(part);
  return (await world.files.list(place)).filter(({ name }) => pattern.test(name)).map(({ name }) => prefix + name);
}

function partPattern(part: string): RegExp {
  const source = part.replace(/\[\^?[^\]]*\]|[*?]|[^]/g, (token) => {
    if (token === "*") return ".*";
    if (token === "?") return ".";
    return token.length > 1 ? token.replaceAll("\\", "\\\\") : token.replace(/[\\^$.()+|[\]{}/-]/, "\\$&");
  });
  return new RegExp(`^${source}$`, "su");
}
