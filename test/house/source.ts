/** The source tree as text, for the tests of this folder. */

/** The folder of the checkout. */
export const ROOT = decodeURIComponent(new URL("../..", import.meta.url).pathname).replace(/\/$/, "");

/** Paths of all files below a folder of the checkout, from the checkout, sorted. */
export function filesBelow(folder: string): string[] {
  return [...Deno.readDirSync(`${ROOT}/${folder}`)].flatMap(({ name, isDirectory }) =>
    isDirectory ? filesBelow(`${folder}/${name}`) : [`${folder}/${name}`]
  ).sort();
}

/** The text of a file of the checkout. */
export function read(path: string): string {
  return Deno.readTextFileSync(`${ROOT}/${path}`);
}

/** The files that git knows, from the checkout; `undefined` if this is no git checkout. */
export function trackedFiles(): string[] | undefined {
  const { success, stdout } = new Deno.Command("git", { args: ["ls-files", "-z"], cwd: ROOT, stderr: "null" })
    .outputSync();
  return success ? new TextDecoder().decode(stdout).split("\0").filter((path) => path !== "") : undefined;
}

/** Whether there is a file or folder at a path of the checkout. */
export function exists(path: string): boolean {
  try {
    Deno.statSync(`${ROOT}/${path}`);
    return true;
  } catch {
    return false;
  }
}
