/** `webhook serve` as a process for the benchmark: with the built-in configuration, and what the kernel says of it. */
import { openSocketLibc } from "../../src/platform/linux/libc.ts";
import { testCertificate } from "../../test/support/tls/certificates.ts";

/** Nothing takes so long unless it fails. */
const DEADLINE = 20_000;

/** Ticks of the times in /proc/PID/stat a second: the same on all of Linux's platforms. */
const TICKS = 100;

/** A webhook that runs. */
export interface Webhook {
  readonly url: string;
  readonly pid: number;
  /** A client with a connection of its own, which trusts it. */
  client(this: void, protocol: Protocol): Deno.HttpClient;
  /** SIGTERM, and its exit code. */
  end(this: void): Promise<number>;
}

/** The version of HTTP. */
export type Protocol = "HTTP/1.1" | "HTTP/2";

/** Starts it with so many workers, its own number unless told, and waits until it answers. */
export async function startWebhook(binary: string, workers?: string): Promise<Webhook> {
  const folder = await Deno.makeTempDir({ prefix: "mesh-bench-" });
  const { certificate, key, authority } = testCertificate();
  const files = { cert: `${folder}/tls.crt`, key: `${folder}/tls.key` };
  await Deno.writeTextFile(files.cert, certificate);
  await Deno.writeTextFile(files.key, key, { mode: 0o600 });
  const addresses = ["--listen=127.0.0.1:0", "--plain-listen=127.0.0.1:0", "--shutdown-delay=0s"];
  if (workers !== undefined) addresses.push(`--workers=${workers}`);
  const child = new Deno.Command(binary, {
    args: ["webhook", "serve", ...addresses, `--tls-cert=${files.cert}`, `--tls-key=${files.key}`],
    env: { NO_COLOR: "1", MESH_LOG_FORMAT: "text", KUBECONFIG: "/nonexistent" },
    stdin: "null",
    stdout: "null",
    stderr: "piped",
  }).spawn();
  const port = await portOf(child);
  return {
    url: `https://localhost:${port}/inject`,
    pid: child.pid,
    client: (protocol) => {
      const isFirst = protocol === "HTTP/1.1";
      return Deno.createHttpClient({ caCerts: [authority], http1: isFirst, http2: !isFirst });
    },
    end: async () => {
      child.kill("SIGTERM");
      const { code } = await child.status;
      await Deno.remove(folder, { recursive: true });
      return code;
    },
  };
}

/** Waits until the log tells the port; what comes after that is read and dropped, so that the webhook never waits. */
async function portOf(child: Deno.ChildProcess): Promise<string> {
  const late = setTimeout(() => child.kill("SIGKILL"), DEADLINE);
  const log = child.stderr.pipeThrough(new TextDecoderStream());
  let said = "";
  for await (const piece of log.values({ preventCancel: true })) {
    said += piece;
    if (/(?:answered|reviews) on port \d+/.test(said)) break;
  }
  clearTimeout(late);
  log.pipeTo(new WritableStream());
  const [, port] = /(?:answered|reviews) on port (\d+)/.exec(said) ?? [];
  if (port === undefined) throw new Error(`"webhook serve" ended without an answer:\n${said}`);
  return port;
}

const IPPROTO_TCP = 6;
const TCP_NODELAY = 1;
/** More files than this process has open. */
const MOST_FILES = 1024;

/**
 * Lets the connections that this process has by now send at once. HTTP/2 writes the head and the body of a request one
 * after the other, and `fetch` has no switch: the body would wait 40 ms for the acknowledgement of the head, which those
 * of the API server and of hey do not (Go sets TCP_NODELAY). Files that are no connections refuse it.
 */
export function sendAtOnce(): void {
  const { symbols } = openSocketLibc();
  const on = new Uint8Array([1, 0, 0, 0]);
  for (let file = 3; file < MOST_FILES; file++) symbols.setsockopt(file, IPPROTO_TCP, TCP_NODELAY, on, on.length);
}

/** Megabytes in memory of a process and its workers; what they share counts for each. */
export async function resident(pid: number): Promise<number> {
  const texts = await Promise.all((await withWorkers(pid)).map((each) => Deno.readTextFile(`/proc/${each}/status`)));
  const sizes = texts.map((text) => Number(/^VmRSS:\s+(\d+) kB$/m.exec(text)?.[1] ?? NaN));
  return sum(sizes) * 1024 / 1e6;
}

/** Seconds of processor time that a process and its workers have had. */
export async function timeWithWorkers(pid: number): Promise<number> {
  return sum(await Promise.all((await withWorkers(pid)).map(processorTime)));
}

/** Seconds of processor time that a process has had: fields 14 and 15, counted after the name in brackets (proc(5)). */
export async function processorTime(pid: number): Promise<number> {
  const [, rest = ""] = /^.*\) (.*)$/s.exec(await Deno.readTextFile(`/proc/${pid}/stat`)) ?? [];
  return sum(rest.split(" ").slice(11, 13).map(Number)) / TICKS;
}

/** A process and those that it has started. */
async function withWorkers(pid: number): Promise<readonly number[]> {
  const tasks = await Array.fromAsync(Deno.readDir(`/proc/${pid}/task`), ({ name }) => name);
  const children = await Promise.all(
    tasks.map((task) => Deno.readTextFile(`/proc/${pid}/task/${task}/children`).catch(() => "")),
  );
  return [pid, ...children.flatMap((text) => text.split(" ").filter(Boolean).map(Number))];
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, each) => total + each, 0);
}
