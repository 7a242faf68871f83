/**
 * Runs the named benchmarks, or all except `compare`: `tools/deno task bench [start ...] [-- FLAGS]`. Each benchmark
 * gets the flags after `--`.
 */

/** The arguments to Deno for each benchmark, by name. */
const BENCHMARKS: Readonly<Record<string, readonly string[]>> = {
  start: ["run", "--quiet", "--allow-all", "bench/start.ts"],
  inject: ["run", "--quiet", "--allow-all", "bench/inject/inject_process.ts"],
  inject_in_process: ["run", "--quiet", "--allow-all", "bench/inject/inject_bench.ts"],
  gotemplate: ["bench", "--quiet", "--allow-all", "--no-check", "bench/gotemplate_bench.ts"],
  iptables: ["run", "--quiet", "--allow-all", "bench/iptables.ts"],
  agent: ["run", "--quiet", "--allow-all", "bench/agent/agent.ts"],
  identity: ["run", "--quiet", "--allow-all", "bench/agent/identity.ts"],
  wait: ["run", "--quiet", "--allow-all", "bench/agent/wait.ts"],
  dns: ["run", "--quiet", "--allow-all", "bench/agent/dns.ts"],
  check: ["run", "--quiet", "--allow-all", "bench/check/check.ts"],
  explain: ["run", "--quiet", "--allow-all", "bench/explain/explain.ts"],
  explain_short: ["run", "--quiet", "--allow-all", "bench/explain/explain_short.ts"],
  webhook: ["run", "--quiet", "--allow-all", "bench/webhook/webhook.ts"],
  yaml: ["bench", "--quiet", "--allow-all", "--no-check", "bench/yaml_bench.ts"],
  linear: ["run", "--quiet", "--allow-all", "--no-check", "bench/linear/linear.ts"],
  compare: ["run", "--quiet", "--allow-all", "bench/compare.ts"],
  smp: ["bench", "--quiet", "--allow-all", "--no-check", "bench/smp_bench.ts"],
};

const ROOT = decodeURIComponent(new URL("..", import.meta.url).pathname);

async function main(words: readonly string[]): Promise<number> {
  const end = words.includes("--") ? words.indexOf("--") : words.length;
  const [names, flags] = [words.slice(0, end), words.slice(end + 1)];
  let status = 0;
  for (const name of names.length > 0 ? names : Object.keys(BENCHMARKS).filter((each) => each !== "compare")) {
    const args = BENCHMARKS[name];
    if (args === undefined) {
      throw new Error(`There is no benchmark "${name}"; choose from ${Object.keys(BENCHMARKS).join(", ")}`);
    }
    const command = new Deno.Command(Deno.execPath(), {
      args: [...args, ...flags],
      cwd: ROOT,
    });
    status = Math.max(status, (await command.spawn().status).code);
  }
  return status;
}

Deno.exit(await main(Deno.args));
