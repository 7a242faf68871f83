/**
 * `check` as a whole process on a cluster of 500 namespaces and 5,000 pods, or with `--size large` of 2,000 namespaces and
 * 50,000 pods: its seconds and its peak resident memory. The
 * API server is a stand-in in this process: it answers from memory, in pages, compressed as a real one does, and has made
 * every answer before the runs that count. The goal is that of the issue: exit code 1 if the median of the seconds or the
 * most memory is above it. `MESH_BINARY` names the binary, which must be compiled.
 */
import { parseArgs } from "node:util";
import type { CheckApi } from "../src/check/inventory/mod.ts";
import { ApiError } from "../src/core/kube/client/mod.ts";
import { clusterOf, type Size } from "./check_cluster.ts";

const ROOT = decodeURIComponent(new URL("..", import.meta.url).pathname).replace(/\/$/, "");
const BINARY = Deno.env.get("MESH_BINARY") ?? `${ROOT}/dist/kubectl-mesh`;

/** Sizes by `--size`, each with its goal. */
const CASES: Readonly<Record<string, Case>> = {
  usual: { size: { namespaces: 500, pods: 10 }, goal: { seconds: 5, megabytes: 250 } },
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
    },
  });
  const found = CASES[values.size];
  if (found === undefined) throw new Error(`--size is one of ${Object.keys(CASES).join(", ")}`);
  const server = serve(clusterOf(found.size));
  const folder = await Deno.makeTempDir();
  try {
    const kubeconfig = `${folder}/config`;
    await Deno.writeTextFile(kubeconfig, kubeconfigOf(server.port));
    // The first run makes the answers.
    const { text, code } = await measure(kubeconfig);
    if (values.output) print(text);
    if (code !== 0) throw new Error(`"${BINARY}" check ended with ${code}:\n${text}`);
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

/** An answer, and its bytes before they were compressed. */
interface Answer {
  readonly status: number;
  readonly body: Uint8Array<ArrayBuffer>;
  readonly length: number;
}

/** The API over HTTP on a port of the loopback. */
function serve(api: CheckApi) {
  const answers = new Map<string, Promise<Answer>>();
  const server = Deno.serve({ hostname: "127.0.0.1", port: 0, onListen: () => {} }, async (request) => {
    const url = new URL(request.url);
    const posted = request.method === "POST" ? await request.text() : undefined;
    const key = url.pathname + url.search;
    const answer = posted === undefined ? answers.get(key) ?? answerTo(api, url) : answerTo(api, url, posted);
    if (posted === undefined) answers.set(key, answer);
    const { status, body } = await answer;
    return new Response(body, {
      status,
      headers: { "content-type": "application/json", "content-encoding": "gzip" },
    });
  });
  return {
    port: server.addr.port,
    close: () => server.shutdown(),
    bytes: async () => (await Promise.all(answers.values())).reduce((sum, { length }) => sum + length, 0),
  };
}

async function answerTo(api: CheckApi, url: URL, posted?: string): Promise<Answer> {
  try {
    return await compressed(200, JSON.stringify(await valueOf(api, url, posted), withoutBigints));
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    return await compressed(error.status ?? 500, JSON.stringify({ kind: "Status", message: error.message }));
  }
}

/** The injector's integers: none here is too large for a number. */
function withoutBigints(_key: string, value: unknown): unknown {
  return typeof value === "bigint" ? Number(value) : value;
}

async function valueOf(api: CheckApi, { pathname, search, searchParams }: URL, posted?: string): Promise<unknown> {
  if (posted !== undefined) return await api.create(pathname + search, JSON.parse(posted));
  if (searchParams.has("limit")) return await pageOf(api, pathname, searchParams);
  if (pathname === "/version" || pathname === "/apis") return (await api.raw(pathname)).value;
  const found = await api.get(pathname);
  if (found === undefined) throw new ApiError(`There is no "${pathname}"`, { status: 404 });
  return found;
}

/** A page of a list (Kubernetes, "API Concepts", "Retrieving large results sets in chunks"). */
async function pageOf(api: CheckApi, path: string, query: URLSearchParams): Promise<object> {
  const labelSelector = query.get("labelSelector") ?? "";
  const { items, resourceVersion } = await api.list(path, { labelSelector });
  const start = Number(query.get("continue") ?? 0);
  const end = start + Number(query.get("limit"));
  const more = end < items.length ? { continue: String(end), remainingItemCount: items.length - end } : {};
  const [{ apiVersion, kind } = { apiVersion: "v1", kind: "" }] = items;
  // Items of a list do not say what they are, the list does.
  const bare = items.slice(start, end).map(({ apiVersion: _, kind: __, ...rest }) => rest);
  return { apiVersion, kind: `${kind}List`, metadata: { resourceVersion, ...more }, items: bare };
}

async function compressed(status: number, text: string): Promise<Answer> {
  const bytes = new TextEncoder().encode(text);
  const stream = new Blob([bytes]).stream().pipeThrough(new CompressionStream("gzip"));
  return { status, length: bytes.length, body: new Uint8Array(await new Response(stream).arrayBuffer()) };
}

interface Run {
  readonly seconds: number;
  readonly megabytes: number;
  readonly code: number;
  readonly text: string;
}

/** One run: its peak is the last that the kernel told before it ended. */
async function measure(kubeconfig: string): Promise<Run> {
  const start = performance.now();
  const args = ["check", "--kubeconfig", kubeconfig];
  const child = new Deno.Command(BINARY, { args, stdin: "null", stdout: "piped", stderr: "piped" }).spawn();
  let bytes = 0;
  const poll = setInterval(() => bytes = Math.max(bytes, peak(child.pid)), 5);
  const { code, stdout, stderr } = await child.output();
  clearInterval(poll);
  const text = new TextDecoder().decode(stdout) + new TextDecoder().decode(stderr);
  return { seconds: (performance.now() - start) / 1000, megabytes: bytes / 1e6, code, text };
}

/** Bytes; 0 when the process is gone. */
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
  const { most } = row("peak in MB", runs.map(({ megabytes }) => megabytes), { digits: 1, goal: goal.megabytes });
  return median > goal.seconds || most > goal.megabytes ? 1 : 0;
}

function row(name: string, values: readonly number[], { digits, goal }: { digits: number; goal: number }) {
  const sorted = values.toSorted((a, b) => a - b);
  const [median = NaN, most = NaN] = [sorted[Math.floor(sorted.length / 2)], sorted.at(-1)];
  const columns = [median, sorted[0], most].map((value = NaN) => value.toFixed(digits).padStart(9));
  print(`${name.padEnd(12)}${columns.join("")}${`< ${goal}`.padStart(9)}\n`);
  return { median, most };
}

function print(text: string): void {
  Deno.stdout.writeSync(new TextEncoder().encode(text));
}

Deno.exit(await main());
