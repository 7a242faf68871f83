/** Runs the benchmarks named, or all: `tools/deno task bench [start ...]`. */

/** A name, and the arguments of Deno. */
const BENCHMARKS: Readonly<Record<string, readonly string[]>> = {
  start: ["run", "--quiet", "--allow-all", "bench/start.ts"],
  inject: ["run", "--quiet", "--allow-all", "bench/inject_process.ts"],
  inject_in_process: ["run", "--quiet", "--allow-all", "bench/inject_bench.ts"],
  gotemplate: ["bench", "--quiet", "--allow-all", "--no-check", "bench/gotemplate_bench.ts"],
  iptables: ["run", "--quiet", "--allow-all", "bench/iptables.ts"],
  agent: ["run", "--quiet", "--allow-all", "bench/agent.ts"],
  identity: ["run", "--quiet", "--allow-all", "bench/identity.ts"],
  wait: ["run", "--quiet", "--allow-all", "bench/wait.ts"],
  dns: ["run", "--quiet", "--allow-all", "bench/dns.ts"],
  check: ["run", "--quiet", "--allow-all", "bench/check.ts"],
  webhook: ["run", "--quiet", "--allow-all", "bench/webhook.ts"],
  yaml: ["bench", "--quiet", "--allow-all", "--no-check", "bench/yaml_bench.ts"],
  smp: ["bench", "--quiet", "--allow-all", "--no-check", "bench/smp_bench.ts"],
};

const ROOT = decodeURIComponent(new URL("..", import.meta.url).pathname);

async function main(names: readonly string[]): Promise<number> {
  let status = 0;
  for (const name of names.length > 0 ? names : Object.keys(BENCHMARKS)) {
    const args = BENCHMARKS[name];
    if (args === undefined) {
      throw new Error(`No benchmark "${name}": there are ${Object.keys(BENCHMARKS).join(", ")}`);
    }
    const command = new Deno.Command(Deno.execPath(), {
      args: [...args],
      cwd: ROOT,
    });
    status = Math.max(status, (await command.spawn().status).code);
  }
  return status;
}

Deno.exit(await main(Deno.args));
