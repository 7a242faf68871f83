import type { Script } from "./pack.ts";
import { run, say } from "./run.ts";
import type { Held } from "./workload/iptables/stand_ins.ts";

/** A configuration like Istio's, which runs the same functions as users' configurations. */
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
  /** READY is the URL of a server that answers 200. */
  readonly args: readonly string[];
  /** What the stand-in for kernel and iptables holds, and the expected output. */
  readonly standIn?: { readonly held: Held; readonly output: string };
  /** Variables for a run on Linux only, in its own folder. FOLDER is a folder to write to, ROOT the folder of the sources, PORT a free port: another agent may have the usual one. */
  readonly env?: Readonly<Record<string, string>>;
  /** The expected exit code, 0 by default. */
  readonly code?: number;
}

/** An agent whose Envoy is a script that ends at once: there is no Envoy where the program is compiled. */
const AGENT = {
  INSTANCE_IP: "127.0.0.1",
  POD_NAME: "pod",
  POD_NAMESPACE: "default",
  CLOUD_PLATFORM: "none",
  PROXY_CONFIG: "{configPath: FOLDER-proxy, binaryPath: ROOT/tools/compile/workload/envoy.sh, statusPort: PORT}",
};

const IN_PLACE = "Nothing to change";
const CHANGED = "The rules are in place";
const GONE = "All owned rules are removed";

/** Runs, one process each: the functions that ran are bytecode in the caches. */
const RUNS: readonly WarmUp[] = [
  { args: ["inject", ...WORKLOADS, ...SETTINGS] },
  { args: ["inject", ...WORKLOADS] },
  { args: ["inject", ...WORKLOADS, "-o", "json"] },
  { args: ["iptables", "generate"] },
  { args: ["iptables", "generate", ...CAPTURE] },
  { args: ["istio-iptables", ...CAPTURE], standIn: { held: "nothing", output: CHANGED } },
  { args: ["istio-iptables", ...CAPTURE], standIn: { held: "nft", output: IN_PLACE } },
  { args: ["istio-iptables", ...CAPTURE], standIn: { held: "legacy", output: IN_PLACE } },
  { args: ["iptables", "apply", "--redirect-dns", "-m", "TPROXY"], standIn: { held: "nft", output: CHANGED } },
  { args: ["iptables", "clean"], standIn: { held: "nft", output: GONE } },
  { args: ["version"] },
  { args: ["version", "--kubeconfig", "tools/compile/workload/kubeconfig.yaml"], code: 1 },
  { args: ["agent", "bootstrap"], env: AGENT },
  { args: ["agent"], env: AGENT },
  { args: ["webhook", "manifests", "--revision", "mesh"] },
  // A server that refuses connections: the kubeconfig is read, and the client is loaded.
  { args: ["check", "--kubeconfig", "tools/compile/workload/kubeconfig.yaml"], code: 1 },
  { args: ["wait", "--timeout", "0", "--url", "READY"] },
  { args: ["pilot-agent", "wait", "--url", "READY"] },
  // Time for more than one round, also on a machine under load.
  { args: ["wait", "--timeout", "2s", "--url", "http://127.0.0.1:1/"], code: 1 },
];

/** The exit code of the programs when V8 rejects its own cache. */
const REFUSED = 99;

/**
 * Fills a folder with V8's bytecode of the functions that common commands run, a file for each script. `warmUp` is `warm_up.ts`
 * as a program.
 */
export async function runCommands(
  root: string,
  warmUp: string,
  folder: string,
  scripts: readonly Script[],
): Promise<void> {
  await Deno.mkdir(folder, { recursive: true });
  for (const { name } of scripts) await Deno.writeFile(`${folder}/${name}`, new Uint8Array());
  const programs = await standInPrograms(root, `${folder}-programs`);
  const pod = `${folder}-pod`;
  await Deno.mkdir(pod);
  await using server = Deno.serve({ hostname: "127.0.0.1", port: 0, onListen() {} }, () => new Response());
  const ready = `http://127.0.0.1:${server.addr.port}/healthz/ready`;
  const isReachable = await fetch(ready).then(async (response) => await response.body?.cancel() ?? true, () => false);
  if (!isReachable) say("compile: the loopback interface is down, so that a wait that ends well gets no code cache");
  const runs = RUNS.filter(({ args, env }) =>
    (env === undefined || Deno.build.os === "linux") && (isReachable || !args.includes("READY"))
  );
  for (const each of runs) await warm(each, warmUp, { root, caches: folder, programs, pod, ready });
}

/**
 * The scripts with the caches of the folder `from`, as V8 takes them with the flags of a variant; the same functions have the same
 * bytes. `settle` is `settle.ts` as a program with these flags, on the runtime of the binary: another V8 rejects the caches.
 */
export async function settledCaches(
  scripts: readonly Script[],
  settle: string,
  from: string,
  folder: string,
): Promise<Script[]> {
  await Deno.mkdir(folder, { recursive: true });
  for (const { name } of scripts) await Deno.copyFile(`${from}/${name}`, `${folder}/${name}`);
  const { code, text } = await run([settle], { MESH_CACHES: folder });
  if (code !== 0) throw new Error(`V8 does not take the code caches (exit code ${code}): ${text.trim()}`);
  const cached = scripts.map((script) => ({ ...script, cache: Deno.readFileSync(`${folder}/${script.name}`) }));
  const size = cached.reduce((sum, { cache }) => sum + cache.length, 0);
  say(`compile: a code cache of ${(size / 1e6).toFixed(1)} MB`);
  return cached;
}

function freePort(): string {
  using listener = Deno.listen({ port: 0 });
  return String(listener.addr.port);
}

/** Folders of a run, and the URL of a server that is ready. */
interface Environment {
  readonly root: string;
  readonly caches: string;
  readonly programs: string;
  readonly pod: string;
  readonly ready: string;
}

/** Runs the program once. Throws if the outcome is not the expected one. */
async function warm(
  { args, standIn, env, code = 0 }: WarmUp,
  warmUp: string,
  { root, caches, programs, pod, ready }: Environment,
): Promise<void> {
  const kernel = standIn === undefined ? {} : { PATH: programs, MESH_STAND_IN: standIn.held };
  const own = Object.entries(env ?? {}).map((
    [name, value],
  ) => [name, value.replace("FOLDER", caches).replace("ROOT", root).replace("PORT", freePort())]);
  const variables = { KUBECONFIG: "/nonexistent", MESH_CACHES: caches, ...Object.fromEntries(own), ...kernel };
  const outcome = await run(
    [warmUp, ...args.map((word) => word.replace("READY", ready))],
    variables,
    env === undefined ? root : pod,
  );
  if (outcome.code === REFUSED) throw new Error(`V8 did not take its code cache in "${args.join(" ")}"`);
  if (outcome.code === code && outcome.text.includes(standIn?.output ?? "")) return;
  if (standIn === undefined) throw new Error(`"${args.join(" ")}" failed: ${outcome.text.trim()}`);
  // The program works without: functions that did not run are compiled when they are called.
  say(`compile: "${args.join(" ")}" on ${standIn.held} did not work: ${outcome.text.trim()}`);
}

/** Creates a folder with the stand-ins for iptables. As the whole PATH it cannot change anything on this machine. */
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
