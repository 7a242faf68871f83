/** A pod: a network namespace, an application, and the agent with a real Envoy. */
import { MESH_COMMAND } from "../../../support/programs/mesh.ts";
import { realEnvoy } from "../../../support/programs/envoy.ts";
import { needsProgram } from "../../../support/test_when.ts";
import { Namespace, needsNamespaces } from "../../iptables/support/pod.ts";
import { needsPlace } from "./agent.ts";
import { Application } from "./application.ts";
import { envoyStats } from "./envoy_stats.ts";
import { Program, type Start } from "./program.ts";
import { clusters, listeners } from "./pod_xds.ts";

const envoy = await realEnvoy();

/** The reason that these tests cannot run here; `undefined` if they can. */
export const missing = needsNamespaces("setpriv") ?? needsPlace("as PID 1") ?? needsProgram("setpriv") ??
  envoy.missing;

/** The user ID of the proxy, whose traffic is not captured. */
export const PROXY_UID = 1337;

/** Settings that capture all traffic of a pod, as Istio's templates write them. */
export const REDIRECT_ALL = ["-p", "15001", "-z", "15006", "-u", "1337", "-m", "REDIRECT", "-i", "*", "-b", "*"];

/** The command that captures traffic, as in Istio's injection template. */
export const CAPTURE = ["istio-iptables", ...REDIRECT_ALL, "-x", "", "-d", "15090,15021,15020", "--dual-stack"];

/** Fields of ProxyConfig. */
export type Config = Readonly<Record<string, unknown>>;

/** Without these settings, Envoy does not count requests. */
const STATS = { inclusionPrefixes: ["http.inbound", "http.outbound"] };

/** Listeners and clusters come from files, because there is no control plane. */
const OVERRIDE = {
  dynamic_resources: {
    lds_config: { path_config_source: { path: "./xds/lds.json" } },
    cds_config: { path_config_source: { path: "./xds/cds.json" } },
  },
};

/** The container's working folder and the pod's network namespace. */
export class MeshPod implements AsyncDisposable {
  readonly #programs: Program[] = [];
  #application: Application | undefined;

  private constructor(
    readonly namespace: Namespace,
    readonly folder: string,
    readonly address: string,
    readonly isOwner: boolean,
  ) {}

  /** Makes a pod in `namespace`, or in a new network namespace with only a loopback interface. */
  static async create(namespace?: Namespace, address = "127.0.0.1"): Promise<MeshPod> {
    const own = namespace ?? await Namespace.create();
    if (namespace === undefined) await own.shell("ip link set lo up");
    const pod = new MeshPod(own, await Deno.makeTempDir({ prefix: "mesh-pod-" }), address, namespace === undefined);
    await Deno.chmod(pod.folder, 0o755);
    for (const folder of ["xds", "etc", "etc/istio", "etc/istio/proxy"]) await Deno.mkdir(`${pod.folder}/${folder}`);
    await pod.write("xds/lds.json", JSON.stringify({ resources: listeners() }));
    await pod.write("xds/cds.json", JSON.stringify({ resources: clusters() }));
    await pod.write("override.json", JSON.stringify(OVERRIDE));
    await new Deno.Command("chown", { args: ["-R", String(PROXY_UID), pod.folder] }).output();
    return pod;
  }

  /** Writes a file in the working folder. */
  async write(name: string, text: string): Promise<void> {
    await Deno.writeTextFile(`${this.folder}/${name}`, text);
  }

  /** The environment of an injected container. */
  env(config: Config = {}): Record<string, string> {
    return {
      POD_NAME: "web",
      POD_NAMESPACE: "default",
      INSTANCE_IP: this.address,
      CLOUD_PLATFORM: "none",
      ISTIO_BOOTSTRAP_OVERRIDE: "./override.json",
      PROXY_CONFIG: JSON.stringify({ binaryPath: envoy.path, concurrency: 1, proxyStatsMatcher: STATS, ...config }),
    };
  }

  /** Starts the program as the user of the proxy. */
  start(argv: readonly string[], start: Partial<Start> = {}): Program {
    const program = new Program([MESH_COMMAND, ...argv], {
      cwd: this.folder,
      netns: this.namespace.path,
      uid: PROXY_UID,
      ...start,
      env: { ...this.env(), ...start.env },
    });
    this.#programs.push(program);
    return program;
  }

  /** Starts the agent and waits until it is ready and knows that Envoy is ready. */
  async startReady(argv: readonly string[] = ["agent"], start: Partial<Start> = {}): Promise<Program> {
    const program = this.start(argv, start);
    const ended = program.end.then(({ code, stderr }) => {
      throw new Error(`It ended with ${code}: ${stderr}`);
    });
    const { code, stderr } = await Promise.race([ended, this.namespace.mesh(["wait", "--timeout", "120s"])]);
    // From now on, its failure must not fail the test.
    ended.catch(() => {});
    if (code !== 0) throw new Error(`${stderr}\n${program.text}`);
    await program.until("Envoy (epoch 0) is live");
    return program;
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
    if (this.isOwner) await this.namespace[Symbol.asyncDispose]();
    await Deno.remove(this.folder, { recursive: true });
  }
}
