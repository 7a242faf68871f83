/**
 * Measures `wait` as a whole process against a stand-in for the proxy: with a ready proxy, and from the moment when the
 * proxy becomes ready to the end of the process. The peer is Istio's pilot-agent. Exits with 1 if a median is above its
 * limit. The binary must be compiled.
 */

const ROOT = decodeURIComponent(new URL("../..", import.meta.url).pathname).replace(/\/$/, "");
const BINARY = Deno.env.get("MESH_BINARY") ?? `${ROOT}/dist/kubectl-mesh`;
const LIMIT = 60;

/** The stand-in responds with status 503 until this time. */
let readyAt = 0;

interface Subject {
  readonly name: string;
  readonly args: readonly string[];
  /** Milliseconds until the stand-in is ready, for each run. The measured time starts there. */
  readonly unready: readonly number[];
  readonly peer: string;
}

// A proxy does not become ready in step with the probes, so the delays cover all phases of the 50 ms between two
// probes.
const SPREAD = Array.from({ length: 20 }, (_, index) => 300 + index * 7.3);

const SUBJECTS: readonly Subject[] = [
  { name: "version (start alone)", args: ["version"], unready: Array(20).fill(0), peer: "-" },
  { name: "wait, ready", args: ["wait"], unready: Array(20).fill(0), peer: "520 ms" },
  { name: "wait -- true, ready", args: ["wait"], unready: Array(20).fill(0), peer: "-" },
  { name: "pilot-agent wait, ready", args: ["pilot-agent", "wait"], unready: Array(20).fill(0), peer: "520 ms" },
  { name: "wait, ready to end", args: ["wait"], unready: SPREAD, peer: "218 ms" },
  { name: "pilot-agent wait, to end", args: ["pilot-agent", "wait"], unready: SPREAD, peer: "218 ms" },
];

async function main(): Promise<number> {
  const server = Deno.serve({ hostname: "127.0.0.1", port: 0, onListen: () => {} }, () => {
    return new Response(null, { status: performance.now() < readyAt ? 503 : 200 });
  });
  const url = `http://127.0.0.1:${server.addr.port}/healthz/ready`;
  print(`${"".padEnd(28)}${"median".padStart(8)}${"least".padStart(8)}${"most".padStart(8)}   limit     peer\n`);
  const kept: boolean[] = [];
  for (const subject of SUBJECTS) kept.push(await measure(subject, url));
  await server.shutdown();
  return kept.every((each) => each) ? 0 : 1;
}

async function measure({ name, args, unready, peer }: Subject, url: string): Promise<boolean> {
  const command = name.includes("--") ? ["--", "true"] : [];
  const words = args[0] === "version" ? args : [...args, "--url", url, ...command];
  await timeOf(words, 0); // The first run warms the page cache.
  const times: number[] = [];
  for (const delay of unready) times.push(await timeOf(words, delay));
  const sorted = times.toSorted((a, b) => a - b);
  const median = sorted[Math.floor(sorted.length / 2)] ?? NaN;
  const columns = [median, sorted[0] ?? NaN, sorted.at(-1) ?? NaN].map((time) => time.toFixed(1).padStart(8)).join("");
  print(`${name.padEnd(28)}${columns}   < ${LIMIT} ms   ${peer}\n`);
  return median < LIMIT;
}

/**
 * Returns the milliseconds from the moment when both the process is started and the stand-in is ready, to the end of
 * the process.
 */
async function timeOf(args: readonly string[], delay: number): Promise<number> {
  const start = performance.now();
  readyAt = start + delay;
  const command = new Deno.Command(BINARY, { args: [...args], stdin: "null", stdout: "null", stderr: "null" });
  const { success } = await command.spawn().status;
  if (!success) throw new Error(`"${args.join(" ")}" failed`);
  return performance.now() - readyAt;
}

function print(text: string): void {
  Deno.stdout.writeSync(new TextEncoder().encode(text));
}

Deno.exit(await main());
