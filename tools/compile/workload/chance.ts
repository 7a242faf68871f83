/**
 * Fixes what would differ between two runs that fill the code cache: which functions run, which exception handlers V8
 * marks as used, and which types a comparison has seen. These differ between a busy machine and a quiet one.
 */

/** Larger than every process ID on Linux (`PID_MAX_LIMIT`, 2^22). */
const GONE = "4194305";

/**
 * Adds a process that ends after `/proc` is listed and before its files are read. This can happen in any run, so it is
 * made to happen in all runs.
 */
export function addEndedProcess(deno: Pick<typeof Deno, "readDir">): void {
  const { readDir } = deno;
  const withGone = async function* (path: string) {
    yield* readDir(path);
    yield { name: GONE, isFile: false, isDirectory: true, isSymlink: false };
  };
  deno.readDir = (path) => path === "/proc" ? withGone(path) : readDir(path);
}

/** Longer than any run on a quiet machine takes, in milliseconds. */
const LONG = 5_000;
const NEVER = 24 * 3600 * 1000;

/** Stops timers that fire only if a machine is slow. */
export function stopLongTimers(global: Pick<typeof globalThis, "setTimeout" | "setInterval">): void {
  for (const name of ["setTimeout", "setInterval"] as const) {
    const start = global[name];
    global[name] = (callback, milliseconds = 0, ...more) =>
      start(callback, milliseconds < LONG ? milliseconds : NEVER, ...more);
  }
}
