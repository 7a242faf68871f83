/**
 * Measures `check` as a whole process on a cluster of 500 namespaces and 5,000 pods, or with `--size large` of 2,000
 * namespaces and 50,000 pods: its time, its processor time and its peak resident memory. The API server is a stand-in
 * in this process: it serves pages from memory, compressed as by a real one, and prepares every response before the
 * runs that count. Exits with 1 if the median time or the peak memory is above its goal.
 * `MESH_BINARY` is the path of the compiled binary. `--serve` only runs the stand-in and prints its kubeconfig.
 */
import { parseArgs } from "node:util";
import { gzipSync } from "node:zlib";
import type { CheckApi } from "../../src/check/inventory/mod.ts";
import { ApiError } from "../../src/kube/client/mod.ts";
import { type BenchCluster, clusterOf, type Collection, jsonOf, type Size } from "./check_cluster.ts";

const ROOT = decodeURIComponent(new URL("../..", import.meta.url).pathname).replace(/\/$/, "");
const BINARY = Deno.env.get("MESH_BINARY") ?? `${ROOT}/dist/kubectl-mesh`;

/** The cluster sizes for `--size`, with their goals. */
const CASES: Readonly<Record<string, Case>> = {
  usual: { size: { namespaces: 500, pods: 10 }, goal: { seconds: 5, megabytes: 200 } },
  large: { size: { namespaces: 2000, pods: 25 }, goal: { seconds: 10, megabytes: 300 } },
};

interface Case {
  readonly size: Size;
  readonly goal: { readonly seconds: number; readonly megabytes: number };
}

async function main(): Promise<number> {
  const { values } = parseArgs({
    args: Deno.args,
    options: {
      runs: { type: "string", default: "5" },
      size: { type: "string", default: "usual" },
      output: { type: "boolean" },
      serve: { type: "boolean" },
    },
  });
  const found = CASES[values.size];
  if (found === undefined) throw new Error(`--size is one of ${Object.keys(CASES).join(", ")}`);
  const server = serve(clusterOf(found.size));
  const folder = await Deno.makeTempDir();
  try {
    const kubeconfig = `${folder}/config`;
    await Deno.writeTextFile(kubeconfig, kubeconfigOf(server.port));
    if (values.serve) {
      print(`${kubeconfig}\n`);
      await server.finished;
    }
    // The first run makes the stand-in prepare its responses.
    const { text, code } = await measure(kubeconfig);
    if (values.output) print(text);
    if (code !== 0) throw new Error(`"${BINARY}" check exited with ${code}:\n${text}`);
    const runs: Run[] = [];
    for (let run = 0; run < Number(values.runs); run++) runs.push(await measure(kubeconfig));
    return report(runs, server.bytes(), found);
  } finally {
    await server.close();
    await Deno.remove(folder, { recursive: true });
  }
}

function kubeconfigOf(port: number): string {
  return JSON.stringify({
    clusters: [{ name: "bench", cluster: { server: `http://127.0.0.1:${port}` } }],
    contexts: [{ name: "bench", context: { cluster: "bench", user: "bench" } }],
    users: [{ name: "bench", user: {} }],
    "current-context": "bench",
  });
}

/** A response, and its size before compression. */
interface Answer {
  readonly status: number;
  readonly body: Uint8Array<ArrayBuffer>;
  readonly isCompressed: boolean;
  readonly length: number;
}

/** Serves the API over HTTP on a loopback port. */
function serve(cluster: BenchCluster) {
  const answers = new Map<string, Promise<Answer>>();
  const server = Deno.serve({ hostname: "127.0.0.1", port: 0, onListen: () => {} }, async (request) => {
    const path = request.url.slice(request.url.indexOf("/", "http://".length));
    // The names of pods in dry runs are random.
    const posted = request.method === "POST" ? (await request.text()).replace(/kubectl-mesh-check-\w+/, "") : "";
    const key = `${path} ${posted}`;
    const answer = answers.get(key) ?? answerTo(cluster, path, posted);
    answers.set(key, answer);
    const { status, body, isCompressed } = await answer;
    const encoding = isCompressed ? { "content-encoding": "gzip" } : {};
    return new Response(body, { status, headers: { "content-type": "application/json", ...encoding } });
  });
  return {
    port: server.addr.port,
    finished: server.finished,
    close: () => server.shutdown(),
    bytes: async () => (await Promise.all(answers.values())).reduce((sum, { length }) => sum + length, 0),
  };
}

async function answerTo(cluster: BenchCluster, path: string, posted: string): Promise<Answer> {
  try {
    return answerOf(200, await textOf(cluster, new URL(path, "http://localhost"), posted));
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    return answerOf(error.status ?? 500, JSON.stringify({ kind: "Status", message: error.message }));
  }
}

/**
 * The API server compresses responses of this size or more with a fast algorithm (k8s.io/apiserver,
 * endpoints/handlers/responsewriters).
 */
const COMPRESSED = 128 * 1024;

function answerOf(status: number, text: string): Answer {
  const bytes = new TextEncoder().encode(text);
  const isCompressed = bytes.length > COMPRESSED;
  const body = isCompressed ? new Uint8Array(gzipSync(bytes, { level: 1 })) : bytes;
  return { status, body, isCompressed, length: bytes.length };
}

async function textOf(
  { collections, rootCertificateAt, api }: BenchCluster,
  url: URL,
  posted: string,
): Promise<string> {
  const { pathname, search, searchParams } = url;
  if (posted !== "") return jsonOf(await api.create(pathname + search, JSON.parse(posted)));
  if (searchParams.has("limit")) {
    const collection = searchParams.has("labelSelector") ? undefined : collections.get(pathname);
    return pageOf(collection ?? await listed(api, pathname, searchParams.get("labelSelector") ?? ""), searchParams);
  }
  if (pathname === "/version" || pathname === "/apis") return jsonOf((await api.raw(pathname)).value);
  const found = await api.get(pathname);
  const text = found === undefined ? rootCertificateAt(pathname) : jsonOf(found);
  if (text === undefined) throw new ApiError(`There is no "${pathname}"`, { status: 404 });
  return text;
}

async function listed(api: CheckApi, path: string, labelSelector: string): Promise<Collection> {
  const { items } = await api.list(path, { labelSelector });
  const [{ apiVersion, kind } = { apiVersion: "v1", kind: "" }] = items;
  return { apiVersion, kind, length: items.length, textAt: (index) => jsonOf(items[index]) };
}

/** Returns a page of a list (Kubernetes, "API Concepts", "Retrieving large results sets in chunks"). */
function pageOf({ apiVersion, kind, length, textAt }: Collection, query: URLSearchParams): string {
  const start = Number(query.get("continue") ?? 0);
  const end = Math.min(length, start + Number(query.get("limit")));
  const more = end < length ? { continue: String(end), remainingItemCount: length - end } : {};
  const list = { kind: `${kind}List`, apiVersion, metadata: { resourceVersion: "4711", ...more } };
  const items = Array.from({ length: end - start }, (_, index) => textAt(start + index));
  return `${JSON.stringify(list).slice(0, -1)},"items":[${items.join(",")}]}`;
}
interface Run {
  readonly seconds: number;
  /** User and system time. */
  readonly processor: number;
  readonly megabytes: number;
  readonly code: number;
  readonly text: string;
}

/** Runs `check` once. Its peak memory is the last value that the kernel reports before the process ends. */
async function measure(kubeconfig: string): Promise<Run> {
  const [start, before] = [performance.now(), processorTimeOfChildren()];
  const args = ["check", "--kubeconfig", kubeconfig];
  const child = new Deno.Command(BINARY, { args, stdin: "null", stdout: "piped", stderr: "piped" }).spawn();
  let bytes = 0;
  const poll = setInterval(() => bytes = Math.max(bytes, peak(child.pid)), 5);
  const { code, stdout, stderr } = await child.output();
  clearInterval(poll);
  const text = new TextDecoder().decode(stdout) + new TextDecoder().decode(stderr);
  const [seconds, processor] = [(performance.now() - start) / 1000, processorTimeOfChildren() - before];
  return { seconds, processor, megabytes: bytes / 1e6, code, text };
}

/**
 * Returns the processor time of finished children of this process, in seconds (proc(5): cutime and cstime, in steps of
 * 10 ms).
 */
function processorTimeOfChildren(): number {
  const fields = Deno.readTextFileSync("/proc/self/stat").replace(/^.*\) /, "").split(" ");
  return (Number(fields[13]) + Number(fields[14])) / 100;
}

/** Returns the peak memory in bytes; 0 if the process is gone. */
function peak(pid: number): number {
  try {
    return 1024 * Number(/VmHWM:\s*(\d+)/.exec(Deno.readTextFileSync(`/proc/${pid}/status`))?.[1] ?? 0);
  } catch {
    return 0;
  }
}

async function report(runs: readonly Run[], bytes: Promise<number>, { size, goal }: Case): Promise<number> {
  const pods = size.namespaces * size.pods;
  print(`${size.namespaces} namespaces, ${pods} pods, answers of ${((await bytes) / 1e6).toFixed(0)} MB in all\n`);
  print(`${"".padEnd(12)}${["median", "least", "most", "goal"].map((word) => word.padStart(9)).join("")}\n`);
  const { median } = row("seconds", runs.map(({ seconds }) => seconds), { digits: 2, goal: goal.seconds });
  row("processor", runs.map(({ processor }) => processor), { digits: 2 });
  const { most } = row("peak in MB", runs.map(({ megabytes }) => megabytes), { digits: 1, goal: goal.megabytes });
  return median > goal.seconds || most > goal.megabytes ? 1 : 0;
}

function row(name: string, values: readonly number[], { digits, goal }: { digits: number; goal?: number }) {
  const sorted = values.toSorted((a, b) => a - b);
  const [median = NaN, most = NaN] = [sorted[Math.floor(sorted.length / 2)], sorted.at(-1)];
  const columns = [median, sorted[0], most].map((value = NaN) => value.toFixed(digits).padStart(9));
  print(`${name.padEnd(12)}${columns.join("")}${(goal === undefined ? "" : `< ${goal}`).padStart(9)}\n`);
  return { median, most };
}

function print(text: string): void {
  Deno.stdout.writeSync(new TextEncoder().encode(text));
}

Deno.exit(await main());
