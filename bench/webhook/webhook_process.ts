/** `webhook serve` as a process for the benchmark: with the built-in configuration, and what the kernel says of it. */
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
  client(this: void): Deno.HttpClient;
  /** SIGTERM, and its exit code. */
  end(this: void): Promise<number>;
}

/** Starts it, and waits until it answers. */
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

/** Waits until the log has the port; what comes after that is read and dropped, so that the webhook never waits. */
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

/** Megabytes in memory of a process. */
export async function resident(pid: number): Promise<number> {
  const status = await Deno.readTextFile(`/proc/${pid}/status`);
  return Number(/^VmRSS:\s+(\d+) kB$/m.exec(status)?.[1] ?? NaN) * 1024 / 1e6;
}

/** Seconds of processor time that a process has had: fields 14 and 15, counted after the name in brackets (proc(5)). */
export async function processorTime(pid: number): Promise<number> {
  const [, rest = ""] = /^.*\) (.*)$/s.exec(await Deno.readTextFile(`/proc/${pid}/stat`)) ?? [];
  const [user = NaN, system = NaN] = rest.split(" ").slice(11, 13).map(Number);
  return (user + system) / TICKS;
}
