/**
 * Builds or downloads the programs that tests use and that take minutes: `tools/deno task programs`. A test builds a
 * missing program itself. Prints the seconds for each program. Exits with 1 if a program cannot be built.
 */
import { LARGE } from "../test/support/programs/large.ts";
import { say } from "./compile/run.ts";

let code = 0;
for (const [name, make] of Object.entries(LARGE)) {
  const start = performance.now();
  const problem = await make().catch((error: unknown) => error instanceof Error ? error.message : String(error));
  if (problem !== undefined) code = 1;
  say(`programs: ${name}: ${problem ?? `${Math.round((performance.now() - start) / 1000)} s`}`);
}
Deno.exit(code);
