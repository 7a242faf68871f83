/** Finds programs in PATH. No other code of this program searches PATH. */
import { MeshError } from "../base/errors.ts";

/** The search path if PATH is not set, the same as in containers. */
export const DEFAULT_PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";

/** Implements `Processes.find`. */
export function findProgram(name: string): string | undefined {
  const paths = folders().filter(isAbsolute).map((folder) => within(folder, name));
  return paths.find((path) => isExecutable(modeOf(path))) ?? paths.find((path) => modeOf(path) !== undefined);
}

/**
 * Returns the path of a program to run. Returns a name with a slash unchanged. For a missing program, returns a path that
 * does not exist, so that the kernel reports the error. Throws a MeshError if PATH finds the program in a relative folder,
 * such as the current one, where other users may have placed a program. Go has the same rule (os/exec, ErrDot).
 */
export function programPath(name: string): string {
  if (name === "" || name.includes("/") || Deno.build.os === "windows") return name;
  const first = folders().find((folder) => isExecutable(modeOf(within(folder, name))));
  if (first !== undefined && !isAbsolute(first)) throw relativeFolder(name, first);
  return findProgram(name) ?? within("/nonexistent", name);
}

function folders(): string[] {
  return (Deno.env.get("PATH") ?? DEFAULT_PATH).split(":");
}

function isAbsolute(folder: string): boolean {
  return folder.startsWith("/");
}

/** Joins a folder of PATH and a name. An empty folder means the current folder. */
function within(folder: string, name: string): string {
  return `${folder === "" ? "." : folder}/${name}`;
}

function isExecutable(mode: number | undefined): boolean {
  return mode !== undefined && (mode & 0o111) !== 0;
}

function relativeFolder(name: string, folder: string): MeshError {
  const part = folder === "" ? "an empty part, which is the current folder" : `the relative folder "${folder}"`;
  return new MeshError(`Cannot run "${name}": PATH finds it in ${part}`, {
    hint: `remove that part from PATH, or put it after the folder of the ${name} that you want`,
  });
}

/** Returns the mode of a file; `undefined` if the file does not exist. */
function modeOf(path: string): number | undefined {
  try {
    const { isFile, mode } = Deno.statSync(path);
    return isFile ? mode ?? 0 : undefined;
  } catch {
    // The file does not exist, or access is denied.
    return undefined;
  }
}
