/**
 * Makes the programs that take minutes to build or to download and that tests use: `tools/deno task programs`. A test makes what is
 * not there. Prints the seconds of each; exit code 1 if one cannot be made.
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
