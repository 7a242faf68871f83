// deno-lint-ignore-file no-console -- it talks to whoever runs it
/**
 * Two pods in a real istiod's mesh under traffic for a long time, with certificates of 40 seconds:
 *
 *     tools/deno task soak [MINUTES]
 *
 * Prints a line each minute, and at the end a table. The exit code is 1 if a request failed, or if the memory or the file
 * descriptors of an agent or of an Envoy grew. `MESH_AGENT=pilot-agent` runs Istio's agent instead.
 */
import { killLeftBehind, removeNamespaces, RUN } from "../../../tools/test/left_behind.ts";
import { needsCluster } from "../support/cluster/cluster.ts";
import { AGENTS, OURS } from "./support/agents.ts";
import { type Series, verdictOf } from "./support/flat.ts";
import { Load } from "./support/load.ts";
import { missing, type PodPair, RealMesh } from "./support/mesh.ts";
import { usageOf } from "./support/usage.ts";

const DEFAULT_MINUTES = 30;
/** Seconds between two measurements. */
const LOOK_SECONDS = 5;
/** Measurements for each printed line. */
const LOOKS_OF_A_LINE = 12;

/** Growth that is tolerated: V8 and tcmalloc return memory late. */
const SLACK = {
  memory: { part: 0.05, amount: 2 },
  descriptors: { part: 0, amount: 4 },
} as const;

async function main(): Promise<number> {
  const minutes = Number(Deno.args[0] ?? DEFAULT_MINUTES);
  const reason = needsCluster() ?? missing;
  if (reason !== undefined || !(minutes > 0)) {
    console.error(`error: ${reason ?? `"${Deno.args[0]}" is no number of minutes`}`);
    return 1;
  }
  await endsWithSignals();
  const [agent = OURS] = AGENTS;
  await using mesh = await RealMesh.create({ ttl: "40s", agent });
  await using pair = await mesh.readyPair({ name: "soak" });
  await using load = new Load(pair);
  const series = await watch(pair, load, minutes);
  const { requests, failures, rotations } = await load.stop();
  const counted = `${requests} requests, ${failures.length} failed, ${rotations.join(" + ")} certificates`;
  console.log(`\n${agent.name}: ${counted}\n`);
  for (const failure of failures.slice(0, 10)) console.log(failure);
  return table(series) && failures.length === 0 ? 0 : 1;
}

/**
 * On a signal, ends all processes of this run and removes what they have left. Ctrl-C signals some of them directly.
 */
async function endsWithSignals(): Promise<void> {
  const run = crypto.randomUUID();
  const folder = await Deno.makeTempDir({ prefix: "ms-" });
  await Deno.chmod(folder, 0o755);
  Deno.env.set(RUN, run);
  Deno.env.set("TMPDIR", folder);
  const end = (code: number) => {
    killLeftBehind(run);
    removeNamespaces(run);
    Deno.exit(code);
  };
  for (const [signal, code] of [["SIGINT", 130], ["SIGTERM", 143]] as const) {
    Deno.addSignalListener(signal, () => end(code));
  }
  // Runs at every exit.
  addEventListener("unload", () => Deno.removeSync(folder, { recursive: true }));
}

/** Measures until the time is over. */
async function watch(pair: PodPair, load: Load, minutes: number): Promise<readonly Series[]> {
  const values = new Map<string, number[]>();
  const end = performance.now() + minutes * 60_000;
  for (let look = 1; performance.now() < end; look++) {
    await new Promise((resolve) => setTimeout(resolve, LOOK_SECONDS * 1000));
    for (const [name, value] of await numbers(pair)) values.set(name, [...values.get(name) ?? [], value]);
    if (look % LOOKS_OF_A_LINE !== 0) continue;
    const { requests, failures, rotations } = load.counts();
    const last = [...values.values()].map((all) => (all.at(-1) ?? NaN).toFixed(0)).join(" ");
    const minute = look * LOOK_SECONDS / 60;
    console.log(
      `${minute} min: ${requests} requests, ${failures.length} failed, ${rotations.join("+")} certificates; ${last}`,
    );
  }
  return [...values].map(([name, values]) => ({
    name,
    values,
    slack: SLACK[name.endsWith("MB") ? "memory" : "descriptors"],
  }));
}

/** Memory and file descriptors of agent and Envoy in both pods, by name. */
async function numbers({ a, b }: PodPair): Promise<readonly (readonly [string, number])[]> {
  const all = await Promise.all(([["a", a], ["b", b]] as const).map(async ([name, pod]) => {
    return Object.entries(await usageOf(pod)).flatMap(([program, { memory, descriptors }]) => [
      [`${program} of ${name}, MB`, memory] as const,
      [`${program} of ${name}, descriptors`, descriptors] as const,
    ]);
  }));
  return all.flat();
}

/** Prints the table. Returns whether all values stay flat. */
function table(series: readonly Series[]): boolean {
  console.log("| what | second quarter | last quarter | most | flat |\n|---|---|---|---|---|");
  const verdicts = series.map(verdictOf);
  for (const { name, early, late, most, isFlat } of verdicts) {
    console.log(
      `| ${name} | ${[early, late, most].map((value) => value.toFixed(1)).join(" | ")} | ${isFlat ? "yes" : "no"} |`,
    );
  }
  return verdicts.every(({ isFlat }) => isFlat);
}

Deno.exit(await main());
