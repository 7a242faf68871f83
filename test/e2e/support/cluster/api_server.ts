/** etcd and kube-apiserver as processes on loopback, which end with the process that started them. */
import { apiServerProgram } from "../../../support/programs/api_servers.ts";
import { freePort } from "../../../support/ports.ts";
import { testCertificate } from "../../../support/tls/certificates.ts";
import { until } from "../../../support/until.ts";

/** The administrator's token. */
export const TOKEN = "e2e-admin";

/** Objects that the API server creates after its start. A test begins when all exist. */
const FIRST_OBJECTS = [
  "/api/v1/namespaces/default/services/kubernetes",
  "/api/v1/namespaces/kube-node-lease",
  "/api/v1/namespaces/kube-public",
  "/api/v1/namespaces/kube-system/configmaps/extension-apiserver-authentication",
  "/readyz",
];

/** Until the server must answer, on a machine with ten times its normal load. */
const ALIVE_MILLISECONDS = 20_000;

/** Makes garbage collection rarer, which costs 90 MB of memory. */
export const COLLECT_SELDOM = { GOGC: "400" };

/** Runs until {@link ApiServer.stop}. */
export class ApiServer {
  readonly #etcd: Program;
  readonly #flags: readonly string[];
  readonly #port: number;
  readonly #binary: string;
  #server: Program;

  private constructor(
    readonly folder: string,
    binary: string,
    readonly etcdUrl: string,
    { files, flags }: Readonly<Record<"files" | "flags", readonly string[]>>,
  ) {
    this.#binary = binary;
    this.#port = freePort();
    this.#etcd = new Program("etcd", [
      `--data-dir=${folder}/etcd`,
      "--unsafe-no-fsync",
      `--listen-client-urls=${etcdUrl}`,
      `--advertise-client-urls=${etcdUrl}`,
      `--listen-peer-urls=http://127.0.0.1:${freePort()}`,
    ], `${folder}/etcd.log`);
    this.#flags = [`--etcd-servers=${etcdUrl}`, `--secure-port=${this.#port}`, ...files];
    this.#server = this.#start(flags);
  }

  /**
   * Builds the API server on first use, which takes minutes. Waits until it is ready. `flags` are for its first run
   * only.
   */
  static async start(flags: readonly string[] = [], version?: string): Promise<ApiServer> {
    const binary = await apiServerProgram(version);
    const folder = await Deno.makeTempDir({ prefix: "mesh-cluster-" });
    const files = await writeFiles(folder);
    const server = new ApiServer(folder, binary, `http://127.0.0.1:${freePort()}`, { files, flags });
    try {
      await Deno.writeTextFile(`${folder}/kubeconfig`, kubeconfigText(server.#port));
      await server.#isReady();
      return server;
    } catch (error) {
      await server.stop();
      throw error;
    }
  }

  /** Stops the server and starts it on the same port, with these additional flags. */
  async restart(flags: readonly string[] = []): Promise<void> {
    await this.#server.end();
    this.#server = this.#start(flags);
    await this.#isReady();
  }

  /**
   * Whether the server is usable: both processes run, and it answers. After a test it may create its first objects
   * late.
   */
  async isAlive(): Promise<boolean> {
    const start = performance.now();
    while (performance.now() - start < ALIVE_MILLISECONDS && this.#endedProgram() === undefined) {
      if (await this.#answers().catch(() => false)) return true;
      await new Promise((resolve) => setTimeout(resolve, 200));
    }
    return false;
  }

  /** Stops the API server but not etcd. */
  kill(): Promise<void> {
    return this.#server.end();
  }

  async stop(): Promise<void> {
    await Promise.all([this.#server.end(), this.#etcd.end()]);
    await Deno.remove(this.folder, { recursive: true });
  }

  #start(flags: readonly string[]): Program {
    return new Program(this.#binary, [...this.#flags, ...flags], `${this.folder}/apiserver.log`);
  }

  async #isReady(): Promise<void> {
    const problem = (name: string, what: string) =>
      `${name} ${what}: ${Deno.readTextFileSync(`${this.folder}/${name}.log`).slice(-2000)}`;
    const answers = () => {
      const ended = this.#endedProgram();
      if (ended !== undefined) throw new Error(problem(ended, "has ended"));
      return this.#answers().catch(() => false);
    };
    await until(answers, () => problem("apiserver", "did not become ready"));
  }

  #endedProgram(): "etcd" | "apiserver" | undefined {
    return this.#etcd.hasEnded ? "etcd" : this.#server.hasEnded ? "apiserver" : undefined;
  }

  async #answers(): Promise<boolean> {
    const authority = lastCertificate(await Deno.readTextFile(`${this.folder}/certs/apiserver.crt`));
    using client = Deno.createHttpClient({ caCerts: [authority] });
    const headers = { authorization: `Bearer ${TOKEN}` };
    for (const path of FIRST_OBJECTS) {
      const signal = AbortSignal.timeout(ALIVE_MILLISECONDS);
      const answer = await fetch(`https://127.0.0.1:${this.#port}${path}`, { client, headers, signal });
      await answer.body?.cancel();
      if (!answer.ok) return false;
    }
    return true;
  }
}

/** Writes keys and tokens. Returns the flags that name them. */
async function writeFiles(folder: string): Promise<string[]> {
  const key = new Deno.Command("openssl", { args: ["genrsa", "-out", `${folder}/sa.key`, "2048"], stderr: "null" });
  if (!(await key.output()).success) throw new Error("openssl made no key");
  const client = testCertificate();
  await Deno.writeTextFile(`${folder}/tokens.csv`, `${TOKEN},admin,admin,system:masters\n`);
  await Deno.writeTextFile(`${folder}/client.json`, JSON.stringify(client));
  await Deno.writeTextFile(`${folder}/client-ca.crt`, client.authority);
  return [
    "--bind-address=127.0.0.1",
    "--profiling=false",
    "--enable-priority-and-fairness=false",
    `--cert-dir=${folder}/certs`,
    `--service-account-key-file=${folder}/sa.key`,
    `--service-account-signing-key-file=${folder}/sa.key`,
    "--service-account-issuer=https://127.0.0.1",
    `--token-auth-file=${folder}/tokens.csv`,
    "--authorization-mode=RBAC",
    `--client-ca-file=${folder}/client-ca.crt`,
    "--service-cluster-ip-range=10.0.0.0/24,fd00:10::/112",
  ];
}

/** The API server's file holds its certificate, then the certificate of its authority. */
export function lastCertificate(pem: string): string {
  return pem.slice(pem.lastIndexOf("-----BEGIN CERTIFICATE-----"));
}

function kubeconfigText(port: number): string {
  return JSON.stringify({
    apiVersion: "v1",
    kind: "Config",
    clusters: [{ name: "e2e", cluster: { server: `https://127.0.0.1:${port}`, "insecure-skip-tls-verify": true } }],
    users: [{ name: "admin", user: { token: TOKEN } }],
    contexts: [{ name: "e2e", context: { cluster: "e2e", user: "admin" } }],
    "current-context": "e2e",
  });
}

/** The shell ignores Ctrl-C, so that it ends after its child. When its input closes, it kills the child. */
const SHELL = `trap "" INT; exec 3<&0; log=$1; shift; "$@" </dev/null >"$log" 2>&1 3<&- & program=$!
{ cat <&3 >/dev/null; kill -9 $program; } 2>/dev/null & wait $program`;

/** A process that is killed when its standard input closes, therefore also when its parent dies. */
class Program {
  readonly #shell: Deno.ChildProcess;
  readonly #end: Promise<unknown>;
  #hasEnded = false;

  constructor(command: string, args: readonly string[], log: string) {
    this.#shell = new Deno.Command("sh", {
      args: ["-c", SHELL, "sh", log, command, ...args],
      env: COLLECT_SELDOM,
      stdin: "piped",
    }).spawn();
    this.#end = this.#shell.status.then(() => this.#hasEnded = true);
  }

  get hasEnded(): boolean {
    return this.#hasEnded;
  }

  async end(): Promise<void> {
    // A second call, or a pipe that broke with the shell, finds it closed.
    await this.#shell.stdin.close().catch(() => {});
    await this.#end;
  }
}
