/**
 * File name patterns, for shells that do not expand them. Follows the rules of Go's filepath.Match, as kubectl does.
 */
import type { World } from "../../platform/world.ts";

/** Whether a name may be a pattern. */
export function isPattern(name: string): boolean {
  return /[*?[]/.test(name);
}

/** Returns the existing paths that match a pattern, sorted. */
export async function matchingPaths(world: World, pattern: string): Promise<readonly string[]> {
  const [first = "", ...rest] = pattern.split("/");
  let paths = first === "" && rest.length > 0 ? ["/"] : await below(world, "", first);
  for (const part of rest) {
    paths = (await Promise.all(paths.map((path) => below(world, path, part)))).flat();
  }
  return paths;
}

/** Returns the entries of a folder that match one part of a pattern. */
async function below(world: World, folder: string, part: string): Promise<string[]> {
  const prefix = folder === "" || folder === "/" ? folder : `${folder}/`;
  if (!isPattern(part)) {
    const path = prefix + part;
    return part === "" || await world.files.stat(path) === undefined ? [] : [path];
  }
  const place = folder === "" ? "." : folder;
  if ((await world.files.stat(place))?.kind !== "directory") return [];
  const pattern = tokensOf(part);
  return (await world.files.list(place)).filter(({ name }) => matches([...name], pattern)).map(({ name }) =>
    prefix + name
  );
}

/** `*` for any text, or a function that checks one character. */
type Token = "*" | ((character: string) => boolean);

function tokensOf(part: string): readonly Token[] {
  return (part.match(/\[\^?[^\]]*\]|[^]/gu) ?? []).map((token) => {
    if (token === "*") return token;
    if (token === "?") return () => true;
    return token.startsWith("[") && token.length > 1 ? classOf(token) : (character) => character === token;
  });
}

/** Parses a class such as `[a-cx]` or `[^a-c]`. A range from high to low matches no character. */
function classOf(token: string): (character: string) => boolean {
  const isNegated = token.startsWith("[^");
  const ranges = (token.slice(isNegated ? 2 : 1, -1).match(/[^]-[^]|[^]/gu) ?? []).map((range) => [...range]);
  return (character) => isNegated !== ranges.some(([low = "", , high = low]) => low <= character && character <= high);
}

/** Whether a name matches. Backtracks only to the last `*`, so the time is at most the product of both lengths. */
function matches(name: readonly string[], tokens: readonly Token[]): boolean {
  let [at, star, resumed] = [0, -1, 0];
  for (let from = 0; from < name.length;) {
    const token = tokens[at];
    if (token === "*") {
      [star, resumed] = [at++, from];
    } else if (token?.(name[from] ?? "") === true) {
      [at, from] = [at + 1, from + 1];
    } else if (star >= 0) {
      [at, from] = [star + 1, ++resumed];
    } else {
      return false;
    }
  }
  return tokens.slice(at).every((token) => token === "*");
}
