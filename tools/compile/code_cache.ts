import type { Script } from "./pack.ts";
import { run, say } from "./run.ts";
import type { Held } from "./workload/iptables/stand_ins.ts";

/** A configuration similar to Istio's, so that it runs the same functions as users' configurations do. */
const SETTINGS = Object.entries({ "--inject-config": "config", "--values": "values", "--mesh-config": "mesh" })
  .flatMap(([flag, name]) => [flag, `tools/compile/workload/${name}.yaml`]);

const WORKLOADS = ["-f", "examples/bookinfo.yaml", "-f", "examples/helloworld.yaml"];

/** The flags that Istio passes to the container that captures a pod's traffic. */
const CAPTURE = [
  ...["-p", "15001", "-z", "15006", "-u", "1337", "-m", "REDIRECT", "-i", "*", "-x", "", "-b", "*"],
  ...["-d", "15090,15021,15020", "--dual-stack"],
];

/** A run of the program that fills the code cache. */
interface WarmUp {
  /** The arguments; READY stands for the URL of a server that returns status 200. */
  readonly args: readonly string[];
  /** The rules that the stand-in for the kernel and iptables has at the start, and the expected output. */
  readonly standIn?: { readonly held: Held; readonly output: string };
  /** Variables for a run on Linux only, in its own folder. FOLDER is a folder to write to, ROOT the folder of the sources, PORT a free port: another agent may have the usual one. */
  readonly env?: Readonly<Record<string, string>>;
  /** The expected exit code, 0 by default. */
  readonly code?: number;
}

/** Environment of an agent whose Envoy is a script that exits immediately, because the build machine has no Envoy. */
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

/** The runs, each in a separate process. The caches get the bytecode of all functions that ran. */
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
  // The server refuses the connection, after the kubeconfig is read and the client is loaded.
  { args: ["check", "--kubeconfig", "tools/compile/workload/kubeconfig.yaml"], code: 1 },
  { args: ["wait", "--timeout", "0", "--url", "READY"] },
  { args: ["pilot-agent", "wait", "--url", "READY"] },
  // The timeout leaves time for more than one attempt, even on a busy machine.
  { args: ["wait", "--timeout", "2s", "--url", "http://127.0.0.1:1/"], code: 1 },
];

/** The exit code of `warm_up.ts` and `settle.ts` if V8 rejects a code cache. */
const REFUSED = 99;

/**
 * Runs common commands, and fills a folder with V8's bytecode of the functions that ran: one file for each script.
 * `warmUp` is the path of the compiled `warm_up.ts`.
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
  if (!isReachable) say("compile: the loopback interface is down, so a successful wait gets no code cache");
  const runs = RUNS.filter(({ args, env }) =>
    (env === undefined || Deno.build.os === "linux") && (isReachable || !args.includes("READY"))
  );
  for (const each of runs) await warm(each, warmUp, { root, caches: folder, programs, pod, ready });
}

/**
 * Returns the scripts with the caches in folder `from`, rewritten so that V8 accepts them with the flags of a variant,
 * and so that the same functions give the same bytes. `settle` is the path of `settle.ts`, compiled with these flags
 * and with the binary's runtime: a different version of V8 rejects the caches.
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
  if (code !== 0) throw new Error(`V8 rejects the code caches (exit code ${code}): ${text.trim()}`);
  const cached = scripts.map((script) => ({ ...script, cache: Deno.readFileSync(`${folder}/${script.name}`) }));
  const size = cached.reduce((sum, { cache }) => sum + cache.length, 0);
  say(`compile: a code cache of ${(size / 1e6).toFixed(1)} MB`);
  return cached;
}

function freePort(): string {
  using listener = Deno.listen({ port: 0 });
  return String(listener.addr.port);
}

/** The folders of a run, and the URL of a server that is ready. */
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
  if (outcome.code === REFUSED) throw new Error(`V8 rejected its code cache in "${args.join(" ")}"`);
  if (outcome.code === code && outcome.text.includes(standIn?.output ?? "")) return;
  if (standIn === undefined) throw new Error(`"${args.join(" ")}" failed: ${outcome.text.trim()}`);
  // This is not fatal: functions without a cache are compiled when they are called.
  say(`compile: "${args.join(" ")}" on ${standIn.held} did not work: ${outcome.text.trim()}`);
}

/**
 * Creates a folder with the stand-ins for iptables. It is the only folder on the PATH, so a run cannot change this
 * machine's rules.
 */
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
