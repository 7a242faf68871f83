import { openBehindRuntime } from "./behind_runtime.ts";
import { packFile, type PackPlace } from "./pack.ts";

/**
 * Returns the pack of the running program: on Linux it is in the program's file, elsewhere among the files that Deno
 * embeds.
 */
export function packOfProgram(): PackPlace {
  if (Deno.build.os === "linux") return openBehindRuntime("/proc/self/exe");
  return packFile(`${import.meta.dirname}/program.pack`);
}
