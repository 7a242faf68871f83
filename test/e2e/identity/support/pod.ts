/** A pod of the mesh: files, captured traffic, application, and the agent with a real Envoy. */
import { MESH_COMMAND } from "../../../support/programs/mesh.ts";
import { realEnvoy } from "../../../support/programs/envoy.ts";
import { Application } from "../../agent/support/application.ts";
import { envoyStats } from "../../agent/support/envoy_stats.ts";
import { CAPTURE, missing as podsMissing, PROXY_UID } from "../../agent/support/mesh_pod.ts";
import { Program, type Start } from "../../agent/support/program.ts";
import { until } from "../../../support/until.ts";
import type { Namespace } from "../../iptables/support/pod.ts";
import { needsControlPlane } from "./control_plane.ts";
import { ADDRESS } from "./network.ts";

const envoy = await realEnvoy();

/** Why these tests cannot run here; `undefined` if they can. */
export const missing = podsMissing ?? needsControlPlane();

export type PodName = "a" | "b";

const TOKEN = "var/run/secrets/tokens/istio-token";
const ROOT = "var/run/secrets/istio/root-cert.pem";

/** Volumes of an injected pod that the proxy writes to. */
const MOUNTED = ["etc/istio/proxy", "var/run/secrets/workload-spiffe-uds", "var/run/secrets/credential-uds"];

const RESOLV =
  `nameserver ${ADDRESS.plane}\nsearch test.svc.cluster.local svc.cluster.local cluster.local\noptions ndots:5\n`;

/** Seconds; longer than a test takes. */
const LIFE_SECONDS = 120;

/** How the program of a pod is started. */
export interface PodStart extends Partial<Start> {
  /** Arguments before the program, such as `env NAME=VALUE`: a command that replaces itself by the program. */
  readonly before?: readonly string[];
}

/** The container's working folder and the pod's network namespace. */
export class MeshedPod implements AsyncDisposable {
  readonly #programs: Program[] = [];
  #application: Application | undefined;

  private constructor(readonly name: PodName, readonly namespace: Namespace, readonly folder: string) {}

  static async create(name: PodName, namespace: Namespace): Promise<MeshedPod> {
    const pod = new MeshedPod(name, namespace, await Deno.makeTempDir({ prefix: `mesh-${name}-` }));
    await Deno.chmod(pod.folder, 0o755);
    await pod.write("hosts", `127.0.0.1 localhost\n${ADDRESS.plane} istiod.istio-system.svc other.istio-system.svc\n`);
    await pod.write("resolv.conf", RESOLV);
    for (const mounted of MOUNTED) await Deno.mkdir(`${pod.folder}/${mounted}`, { recursive: true });
    await new Deno.Command("chown", { args: ["-R", String(PROXY_UID), pod.folder] }).output();
    return pod;
  }

  get address(): string {
    return ADDRESS[this.name];
  }

  /** Mounts for the program: its own /etc/hosts, /etc/resolv.conf and shared memory. */
  get mounts(): string {
    const files = ["hosts", "resolv.conf"].map((name) => `mount --bind ${this.folder}/${name} /etc/${name}`);
    return [...files, "mount -t tmpfs -o mode=1777 tmpfs /dev/shm"].join("; ");
  }

  /** Writes a file of the working folder atomically, by a rename. */
  async write(name: string, text: string): Promise<void> {
    const path = `${this.folder}/${name}`;
    await Deno.mkdir(path.slice(0, path.lastIndexOf("/")), { recursive: true });
    await Deno.writeTextFile(`${path}.new`, text);
    await Deno.chown(`${path}.new`, PROXY_UID, PROXY_UID);
    await Deno.rename(`${path}.new`, path);
  }

  /** The token of the service account. */
  writeToken(token: string): Promise<void> {
    return this.write(TOKEN, token);
  }

  /** The roots of the ConfigMap. */
  writeRoots(roots: string): Promise<void> {
    return this.write(ROOT, roots);
  }

  /** Captures the traffic of the pod, including DNS. */
  async capture(): Promise<void> {
    const { code, stderr } = await this.namespace.mesh([...CAPTURE, "--redirect-dns"], { mounts: this.mounts });
    if (code !== 0) throw new Error(stderr);
  }

  /** The environment that an injected container has. */
  env(config: Readonly<Record<string, unknown>> = {}): Record<string, string> {
    return {
      POD_NAME: this.name,
      POD_NAMESPACE: "test",
      SERVICE_ACCOUNT: this.name,
      INSTANCE_IP: this.address,
      CLOUD_PLATFORM: "none",
      PEER_METADATA_DISCOVERY: "false",
      ISTIO_META_CLUSTER_ID: "Kubernetes",
      ISTIO_META_DNS_CAPTURE: "true",
      PROXY_CONFIG: JSON.stringify({ binaryPath: envoy.path, concurrency: 1, ...config }),
    };
  }

  /** Starts the program as the user of the proxy. */
  start(argv: readonly string[] = ["agent"], { before = [], ...start }: PodStart = {}): Program {
    const program = new Program([...before, MESH_COMMAND, ...argv], {
      cwd: this.folder,
      netns: this.namespace.path,
      uid: PROXY_UID,
      mounts: this.mounts,
      seconds: LIFE_SECONDS,
      ...start,
      env: { ...this.env(), ...start.env },
    });
    this.#programs.push(program);
    return program;
  }

  /** Starts the agent and waits until it is ready. */
  async startReady(argv: readonly string[] = ["agent"], start: PodStart = {}): Promise<Program> {
    const program = this.start(argv, start);
    await this.isReady(program);
    return program;
  }

  /** Waits until the agent is ready. */
  async isReady(program: Program): Promise<void> {
    let last = "";
    await until(async () => {
      const { status, text } = await this.readiness();
      last = text;
      return status === 200;
    }, () => `Never ready:\n${last}\n${program.text}`);
  }

  /** The answer of the readiness endpoint, with its stages. */
  async readiness() {
    const application = await this.application();
    return await application.ask("http://127.0.0.1:15020/healthz/ready?verbose");
  }

  /** Waits until the text of readiness matches. */
  async readinessSays(pattern: RegExp, program: Program): Promise<string> {
    let last = "";
    await until(async () => {
      last = (await this.readiness()).text;
      return pattern.test(last);
    }, () => `Readiness never says ${pattern}, but:\n${last}\n${program.text}`);
    return last;
  }

  /** The application of this pod: server and client. */
  async application(): Promise<Application> {
    return this.#application ??= await Application.start(this.namespace.path);
  }

  /** Envoy's counters with matching names. */
  async stats(filter: string): Promise<ReadonlyMap<string, number>> {
    return await envoyStats(await this.application(), filter);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all(this.#programs.map((program) => program[Symbol.asyncDispose]()));
    await this.#application?.[Symbol.asyncDispose]();
    await Deno.remove(this.folder, { recursive: true });
  }
}
