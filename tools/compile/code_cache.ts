import type { Script } from "./pack.ts";
import { run, say } from "./run.ts";

/** A configuration as Istio's are: what they make run is what users' own make run. */
const SETTINGS = Object.entries({ "--inject-config": "config", "--values": "values", "--mesh-config": "mesh" })
  .flatMap(([flag, name]) => [flag, `tools/compile/workload/${name}.yaml`]);

const WORKLOADS = ["-f", "examples/bookinfo.yaml", "-f", "examples/helloworld.yaml"];

/** Runs in a network namespace of its own: as root, or as a user who may have one. */
const NAMESPACE = ["unshare", "--net"];
const USER_NAMESPACE = ["unshare", "--map-root-user", "--net"];

/**
 * What is run to find out which functions matter, one process each; what ran is bytecode in the caches from then on. A run
 * that does not come about (no network namespace, no iptables) leaves its functions to be compiled when they are called.
 */
const RUNS: readonly { readonly words: readonly string[]; readonly within?: readonly string[] }[] = [
  { words: ["inject", ...WORKLOADS, ...SETTINGS] },
  { words: ["inject", ...WORKLOADS] },
  { words: ["inject", ...WORKLOADS, "-o", "json"] },
  { words: ["iptables", "generate"] },
  ...[NAMESPACE, USER_NAMESPACE].flatMap((within) => [
    { words: ["iptables", "apply"], within },
    { words: ["iptables", "apply", "--redirect-dns", "--dual-stack"], within },
  ]),
  { words: ["version"] },
];

/** The exit code of `warm_up.ts` when V8 did not take a cache that it had made itself. */
const REFUSED = 99;

/**
 * Makes V8's bytecode of the functions that common commands run, for each script, with the program `warmUp` (built
 * from `warm_up.ts` on the same runtime: another V8 takes none of it). `folder` is for the caches alone.
 */
export async function makeCaches(
  root: string,
  warmUp: string,
  folder: string,
  scripts: readonly Script[],
): Promise<Script[]> {
  await Deno.mkdir(folder);
  for (const { name } of scripts) await Deno.writeFile(`${folder}/${name}`, new Uint8Array());
  for (const { words, within = [] } of RUNS) {
    const outcome = await run([...within, warmUp, ...words], { MESH_CACHES: folder }, root);
    if (outcome.code === REFUSED) throw new Error(`V8 did not take its code cache in "${words.join(" ")}"`);
    if (!outcome.ok && within.length === 0) throw new Error(`"${words.join(" ")}" failed: ${outcome.text.trim()}`);
  }
  const cached = scripts.map((script) => ({ ...script, cache: Deno.readFileSync(`${folder}/${script.name}`) }));
  const size = cached.reduce((sum, { cache }) => sum + cache.length, 0);
  say(`compile: a code cache of ${(size / 1e6).toFixed(1)} MB`);
  return cached;
}
