/**
 * What chance decides while the code cache is made, decided once: which functions run, which exception handlers V8 notes as used,
 * and which types a comparison saw. A machine under load is not as a quiet one.
 */

/** Above the greatest process id of Linux (`PID_MAX_LIMIT`, 2^22). */
const GONE = "4194305";

/** A process that ends after `/proc` is listed and before its files are read: there may be one, so there always is one. */
export function addEndedProcess(deno: Pick<typeof Deno, "readDir">): void {
  const { readDir } = deno;
  const withGone = async function* (path: string) {
    yield* readDir(path);
    yield { name: GONE, isFile: false, isDirectory: true, isSymlink: false };
  };
  deno.readDir = (path) => path === "/proc" ? withGone(path) : readDir(path);
}

/** On a quiet machine no run takes as long; milliseconds. */
const LONG = 5_000;
const NEVER = 24 * 3600 * 1000;

/** Timers that end only runs on a slow machine never end. */
export function stopLongTimers(global: Pick<typeof globalThis, "setTimeout" | "setInterval">): void {
  for (const name of ["setTimeout", "setInterval"] as const) {
    const start = global[name];
    global[name] = (callback, milliseconds = 0, ...more) =>
      start(callback, milliseconds < LONG ? milliseconds : NEVER, ...more);
  }
}
