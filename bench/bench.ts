/** Runs the benchmarks named, or all: `tools/deno task bench [start ...]`. */

/** A name, and the script with its arguments. */
const BENCHMARKS: Readonly<Record<string, readonly string[]>> = {
  start: ["bench/start.ts"],
};

const ROOT = decodeURIComponent(new URL("..", import.meta.url).pathname);

async function main(names: readonly string[]): Promise<number> {
  let status = 0;
  for (const name of names.length > 0 ? names : Object.keys(BENCHMARKS)) {
    const script = BENCHMARKS[name];
    if (script === undefined) {
      throw new Error(`No benchmark "${name}": there are ${Object.keys(BENCHMARKS).join(", ")}`);
    }
    const command = new Deno.Command(Deno.execPath(), {
      args: ["run", "--quiet", "--allow-all", ...script],
      cwd: ROOT,
    });
    status = Math.max(status, (await command.spawn().status).code);
  }
  return status;
}

Deno.exit(await main(Deno.args));
