/** Reads the source tree as text, for the tests in this folder. */

/** The folder of the checkout. */
export const ROOT = decodeURIComponent(new URL("../..", import.meta.url).pathname).replace(/\/$/, "");

/** Returns the paths of all files below a folder, relative to the checkout, sorted. */
export function filesBelow(folder: string): string[] {
  return [...Deno.readDirSync(`${ROOT}/${folder}`)].flatMap(({ name, isDirectory }) =>
    isDirectory ? filesBelow(`${folder}/${name}`) : [`${folder}/${name}`]
  ).sort();
}

/** Returns the text of a file in the checkout. */
export function read(path: string): string {
  return Deno.readTextFileSync(`${ROOT}/${path}`);
}

/** Returns the files that git tracks, relative to the checkout; `undefined` if this is not a git checkout. */
export function trackedFiles(): string[] | undefined {
  const { success, stdout } = new Deno.Command("git", { args: ["ls-files", "-z"], cwd: ROOT, stderr: "null" })
    .outputSync();
  return success ? new TextDecoder().decode(stdout).split("\0").filter((path) => path !== "") : undefined;
}

/** Whether a file or folder exists at a path in the checkout. */
export function exists(path: string): boolean {
  try {
    Deno.statSync(`${ROOT}/${path}`);
    return true;
  } catch {
    return false;
  }
}
