import { openBehindRuntime } from "./behind_runtime.ts";
import { packFile, type PackPlace } from "./pack.ts";

/** The pack of the running program: in its file on Linux, elsewhere among the files that Deno embeds. */
export function packOfProgram(): PackPlace {
  if (Deno.build.os === "linux") return openBehindRuntime("/proc/self/exe");
  return packFile(`${import.meta.dirname}/program.pack`);
}
