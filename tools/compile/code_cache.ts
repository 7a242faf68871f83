import type { Script } from "./pack.ts";
import { run, say } from "./run.ts";
import type { Held } from "./workload/iptables/stand_ins.ts";

/** A configuration as Istio's are: what they make run is what users' own make run. */
const SETTINGS = Object.entries({ "--inject-config": "config", "--values": "values", "--mesh-config": "mesh" })
  .flatMap(([flag, name]) => [flag, `tools/compile/workload/${name}.yaml`]);

const WORKLOADS = ["-f", "examples/bookinfo.yaml", "-f", "examples/helloworld.yaml"];

/** The flags that Istio gives to the container that captures a pod's traffic. */
const CAPTURE = [
  ...["-p", "15001", "-z", "15006", "-u", "1337", "-m", "REDIRECT", "-i", "*", "-x", "", "-b", "*"],
  ...["-d", "15090,15021,15020", "--dual-stack"],
];

/** A run of the program. */
interface WarmUp {
  readonly words: readonly string[];
  /** What it finds in place of a kernel and of iptables, and what it says then. */
  readonly standIn?: { readonly held: Held; readonly says: string };
  /**
   * Variables, for a program that runs on Linux alone, in a folder of its own; FOLDER is another for it to write to, ROOT
   * that of the sources.
   */
  readonly env?: Readonly<Record<string, string>>;
  /** The exit code, 0 unless told. */
  readonly code?: number;
}

/** An agent whose Envoy ends at once; it cannot be had where the program is compiled. */
const AGENT = {
  INSTANCE_IP: "127.0.0.1",
  POD_NAME: "pod",
  POD_NAMESPACE: "default",
  CLOUD_PLATFORM: "none",
  PROXY_CONFIG: "{configPath: FOLDER-proxy, binaryPath: ROOT/tools/compile/workload/envoy.sh, statusPort: 15020}",
};

const IN_PLACE = "Nothing to change";
const CHANGED = "The rules are in place";
const GONE = "All owned rules are removed";

/** What is run to find out which functions matter, one process each; what ran is bytecode in the caches from then on. */
const RUNS: readonly WarmUp[] = [
  { words: ["inject", ...WORKLOADS, ...SETTINGS] },
  { words: ["inject", ...WORKLOADS] },
  { words: ["inject", ...WORKLOADS, "-o", "json"] },
  { words: ["iptables", "generate"] },
  { words: ["iptables", "generate", ...CAPTURE] },
  { words: ["istio-iptables", ...CAPTURE], standIn: { held: "nothing", says: CHANGED } },
  { words: ["istio-iptables", ...CAPTURE], standIn: { held: "nft", says: IN_PLACE } },
  { words: ["istio-iptables", ...CAPTURE], standIn: { held: "legacy", says: IN_PLACE } },
  { words: ["iptables", "apply", "--redirect-dns", "-m", "TPROXY"], standIn: { held: "nft", says: CHANGED } },
  { words: ["iptables", "clean"], standIn: { held: "nft", says: GONE } },
  { words: ["version"] },
  { words: ["agent", "bootstrap"], env: AGENT },
  { words: ["agent"], env: AGENT },
  { words: ["webhook", "manifests"] },
  // A server that refuses connections: the kubeconfig is read, and client-node is loaded.
  { words: ["check", "--kubeconfig", "tools/compile/workload/kubeconfig.yaml"], code: 1 },
  { words: ["wait", "--timeout", "100ms", "--url", "http://127.0.0.1:1/"], code: 1 },
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
  const programs = await standInPrograms(root, `${folder}-programs`);
  const runs = RUNS.filter(({ env }) => env === undefined || Deno.build.os === "linux");
  const pod = `${folder}-pod`;
  await Deno.mkdir(pod);
  for (const each of runs) await warm(each, warmUp, { root, caches: folder, programs, pod });
  const cached = scripts.map((script) => ({ ...script, cache: Deno.readFileSync(`${folder}/${script.name}`) }));
  const size = cached.reduce((sum, { cache }) => sum + cache.length, 0);
  say(`compile: a code cache of ${(size / 1e6).toFixed(1)} MB`);
  return cached;
}

/** Folders of a run. */
interface Folders {
  readonly root: string;
  readonly caches: string;
  readonly programs: string;
  readonly pod: string;
}

/** One run of the program. Throws if it does not do what it is for. */
async function warm(
  { words, standIn, env, code = 0 }: WarmUp,
  warmUp: string,
  { root, caches, programs, pod }: Folders,
): Promise<void> {
  const kernel = standIn === undefined ? {} : { PATH: programs, MESH_STAND_IN: standIn.held };
  const own = Object.entries(env ?? {}).map((
    [name, value],
  ) => [name, value.replace("FOLDER", caches).replace("ROOT", root)]);
  const variables = { MESH_CACHES: caches, ...Object.fromEntries(own), ...kernel };
  const outcome = await run([warmUp, ...words], variables, env === undefined ? root : pod);
  if (outcome.code === REFUSED) throw new Error(`V8 did not take its code cache in "${words.join(" ")}"`);
  if (outcome.code === code && outcome.text.includes(standIn?.says ?? "")) return;
  if (standIn === undefined) throw new Error(`"${words.join(" ")}" failed: ${outcome.text.trim()}`);
  // The program works without: what did not run is compiled when it is called.
  say(`compile: "${words.join(" ")}" on ${standIn.held} did not come about: ${outcome.text.trim()}`);
}

/** A folder with the stand-ins for iptables alone: where it is all of PATH, nothing on this machine can be changed. */
async function standInPrograms(root: string, folder: string): Promise<string> {
  await Deno.mkdir(folder);
  for (const family of ["iptables", "ip6tables"]) {
    for (const variant of ["nft", "legacy"]) {
      for (const verb of ["save", "restore"]) {
        const program = `${folder}/${family}-${variant}-${verb}`;
        await Deno.copyFile(`${root}/tools/compile/workload/iptables/${verb}.sh`, program);
        await Deno.chmod(program, 0o755);
      }
    }
  }
  return folder;
}
