/**
 * Starts `webhook serve` with the built-in configuration for the benchmark, and reads its memory and processor time
 * from the kernel.
 */
import { testCertificate } from "../../test/support/tls/certificates.ts";

/** Milliseconds after which a benchmark has failed; everything here is much faster. */
const DEADLINE = 20_000;

/** Ticks per second in /proc/PID/stat, the same on all Linux platforms. */
const TICKS = 100;

/** A running webhook. */
export interface Webhook {
  readonly url: string;
  readonly pid: number;
  /** Returns a client with its own connection, which trusts the webhook's certificate. */
  client(this: void): Deno.HttpClient;
  /** Sends SIGTERM and returns the exit code. */
  end(this: void): Promise<number>;
}

/** Starts the webhook, and waits until it responds. */
export async function startWebhook(binary: string): Promise<Webhook> {
  const folder = await Deno.makeTempDir({ prefix: "mesh-bench-" });
  const { certificate, key, authority } = testCertificate();
  const files = { cert: `${folder}/tls.crt`, key: `${folder}/tls.key` };
  await Deno.writeTextFile(files.cert, certificate);
  await Deno.writeTextFile(files.key, key, { mode: 0o600 });
  const addresses = ["--listen=127.0.0.1:0", "--plain-listen=127.0.0.1:0", "--shutdown-delay=0s"];
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
    client: () => Deno.createHttpClient({ caCerts: [authority], http2: false }),
    end: async () => {
      child.kill("SIGTERM");
      const { code } = await child.status;
      await Deno.remove(folder, { recursive: true });
      return code;
    },
  };
}

/** Waits until the log contains the port. Later output is read and dropped, so that the webhook never blocks on it. */
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

/** Returns the resident memory of a process in megabytes. */
export async function resident(pid: number): Promise<number> {
  const status = await Deno.readTextFile(`/proc/${pid}/status`);
  return Number(/^VmRSS:\s+(\d+) kB$/m.exec(status)?.[1] ?? NaN) * 1024 / 1e6;
}

/**
 * Returns the processor time of a process in seconds: fields 14 and 15 of its stat file, counted after the name in
 * parentheses (proc(5)).
 */
export async function processorTime(pid: number): Promise<number> {
  const [, rest = ""] = /^.*\) (.*)$/s.exec(await Deno.readTextFile(`/proc/${pid}/stat`)) ?? [];
  const [user = NaN, system = NaN] = rest.split(" ").slice(11, 13).map(Number);
  return (user + system) / TICKS;
}
