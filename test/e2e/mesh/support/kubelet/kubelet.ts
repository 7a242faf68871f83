/** A stand-in kubelet: it runs a pod as its object says, and keeps the pod's status. */
import { isPod, type KubeApi, type Pod } from "../../../../../src/kube/client/mod.ts";
import { until } from "../../../../support/until.ts";
import { Application } from "../../../agent/support/application.ts";
import { Program } from "../../../agent/support/program.ts";
import { MACHINE, type PodNetwork } from "../network.ts";
import { argumentsOf, type Container, environmentOf } from "./environment.ts";
import { type Mount, rootScript } from "./root.ts";
import { Volumes } from "./volumes.ts";

/** An image as these tests model it. */
export interface Image {
  readonly entry: readonly string[];
  /** Its process is an {@link Application}. */
  readonly isApplication?: boolean;
  /** Files of this machine at paths of the image. */
  readonly files?: Readonly<Record<string, string>>;
}

/** What a pod needs. */
export interface PodOptions {
  readonly api: KubeApi;
  readonly pod: Pod;
  readonly network: PodNetwork;
  /** Images by the last part of their name, without the tag. */
  readonly images: Readonly<Record<string, Image>>;
  /** Sends the requests of probes, from the machine. */
  readonly prober: Application;
  /** Lines of `/etc/hosts` and `/etc/resolv.conf`. */
  readonly hosts: string;
  readonly resolv: string;
  /** Adds the pod to the node's network, as the container runtime does before the first container. */
  readonly joinNetwork?: (pod: Pod, netns: string) => Promise<void>;
}

/** Longer than any test, also a long one. */
const LIFE_SECONDS = 4 * 3600;

/** Variables that every process gets besides its container's: the launcher of the checkout finds its cache by them. */
const INHERITED = ["MESH_CACHE", "DENO_TLS_CA_STORE", "DENO_DIR"];
const PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";

/** A pod whose containers run. */
export class RunningPod implements AsyncDisposable {
  readonly #programs = new Map<string, Program>();
  readonly #applications = new Map<string, Application>();

  private constructor(readonly options: PodOptions, readonly volumes: Volumes, readonly folder: string) {}

  /** Makes the volumes and reports the pod's addresses. No container runs yet. */
  static async make(options: PodOptions): Promise<RunningPod> {
    const folder = await Deno.makeTempDir({ prefix: "mesh-kubelet-" });
    await Deno.chmod(folder, 0o755);
    // Variables of containers may refer to the pod's address.
    const { api, pod, network } = options;
    const status = await patchStatus(api, pod, statusOf("Pending", network.addresses));
    const volumes = await Volumes.make(api, status, folder);
    const running = new RunningPod({ ...options, pod: status }, volumes, folder);
    await Deno.writeTextFile(`${folder}/hosts`, options.hosts);
    await Deno.writeTextFile(`${folder}/resolv.conf`, options.resolv);
    return running;
  }

  get name(): string {
    return this.options.pod.metadata.name;
  }

  get address(): string {
    return this.options.network.addresses[0] ?? "";
  }

  /**
   * Runs the init containers to their end, then starts the others. An init container that is a sidecar must pass its
   * startup probe.
   */
  async start(): Promise<void> {
    const { pod, network, joinNetwork } = this.options;
    await joinNetwork?.(pod, network.namespace.path);
    const { initContainers = [], containers = [] } = pod.spec ?? {};
    for (const container of initContainers) await this.#startFirst(container);
    for (const container of containers) await this.#start(container);
  }

  /** Waits until the proxy is ready, and reports the pod as ready. */
  async ready(): Promise<void> {
    const { initContainers = [], containers = [] } = this.options.pod.spec ?? {};
    const probed = [...initContainers, ...containers].filter(({ readinessProbe }) => readinessProbe !== undefined);
    for (const container of probed) await this.#passes(container, "readinessProbe");
    const { api, pod, network } = this.options;
    await patchStatus(api, pod, { ...statusOf("Running", network.addresses), ...containersOf(pod) });
  }

  /** Starts and waits until it is ready. */
  async startReady(): Promise<void> {
    await this.start();
    await this.ready();
  }

  /** The proxy's process. */
  get proxy(): Program {
    return this.#programs.get("istio-proxy") ?? fail(`The pod "${this.name}" runs no proxy`);
  }

  /** Arguments of nsenter(1) that run a command in the application's container. */
  get entrance(): readonly string[] {
    const [application] = this.#applications.values();
    return application === undefined ? [] : [`--target=${application.child.pid}`, "--net", "--mount", "--root", "--wd"];
  }

  /** The application: it answers on port 8080 and sends requests. */
  get application(): Application {
    return [...this.#applications.values()][0] ?? fail(`The pod "${this.name}" runs no application`);
  }

  /** Whether the readiness probe of the proxy passes. */
  async isReady(): Promise<boolean> {
    return (await this.#probe({ path: "/healthz/ready", port: 15021 })) === 200;
  }

  /** Runs an init container to its end. Starts a sidecar (`restartPolicy: Always`) and waits for its startup probe. */
  async #startFirst(container: Container): Promise<void> {
    const program = await this.#start(container);
    if (container.restartPolicy === "Always") return await this.#passes(container, "startupProbe");
    const { code, stdout, stderr } = await program?.end ?? fail("An application is no init container");
    if (code !== 0) throw new Error(`The init container "${container.name}" ended with ${code}:\n${stdout}${stderr}`);
  }

  async #start(container: Container): Promise<Program | undefined> {
    const name = container.name ?? "";
    const image = this.#image(container);
    const root = await Deno.makeTempDir({ dir: this.folder, prefix: `root-${name}-` });
    const env = environmentOf(this.options.pod, container);
    const inherited = INHERITED.flatMap((name) =>
      Deno.env.get(name) === undefined ? [] : `${name}=${Deno.env.get(name)}`
    );
    const variables = [
      `PATH=${PATH}`,
      "NO_COLOR=1",
      ...inherited,
      ...Object.entries(env).map((pair) => pair.join("=")),
    ];
    const command = argumentsOf(container, image.entry, env);
    const argv = ["chroot", root, "env", "-i", ...variables, "setpriv", ...this.#rights(container), ...command];
    const mounts = rootScript(
      root,
      this.#mounts(container, image),
      container.securityContext?.readOnlyRootFilesystem === true,
    );
    const { path } = this.options.network.namespace;
    if (image.isApplication) {
      const script = ["unshare", "--mount", "sh", "-c", `set -e; ${mounts}\nexec "$@"`, "sh"];
      this.#applications.set(name, await Application.start(path, [...script, ...argv]));
      return undefined;
    }
    const program = new Program(argv, { cwd: "/", netns: path, mounts, env: {}, seconds: LIFE_SECONDS });
    this.#programs.set(name, program);
    return program;
  }

  #image({ image = "", name }: Container): Image {
    const short = image.split("/").at(-1)?.split(":")[0] ?? "";
    return this.options.images[short] ?? fail(`The image "${image}" of the container "${name}" is not known here`);
  }

  #mounts({ volumeMounts = [] }: Container, { files = {} }: Image): Mount[] {
    const ofVolumes = volumeMounts.map(({ name = "", mountPath = "", subPath = "" }) => {
      const isReadOnly = !this.volumes.isWritable(name);
      return {
        from: [this.volumes.path(name), ...subPath === "" ? [] : [subPath]].join("/"),
        at: mountPath,
        isReadOnly,
      };
    });
    const ofImage = Object.entries(files).map(([at, from]) => ({ at, from, isReadOnly: true }));
    const own = ["hosts", "resolv.conf"].map((name) => ({
      from: `${this.folder}/${name}`,
      at: `/etc/${name}`,
      isReadOnly: true,
    }));
    return [...own, ...ofImage, ...ofVolumes];
  }

  /** User, group and capabilities, as flags of setpriv(1). */
  #rights({ securityContext = {} }: Container): string[] {
    const { runAsUser = 0, runAsGroup = runAsUser, capabilities, allowPrivilegeEscalation, privileged } =
      securityContext;
    const user = [`--reuid=${runAsUser}`, `--regid=${runAsGroup}`, "--clear-groups"];
    const dropsAll = privileged !== true && capabilities?.drop?.includes("ALL") === true;
    const kept = ["-all", ...(capabilities?.add ?? []).map((name) => `+${name.toLowerCase()}`)].join(",");
    return [
      ...user,
      ...(dropsAll ? [`--bounding-set=${kept}`, "--inh-caps=-all"] : []),
      ...(allowPrivilegeEscalation === false ? ["--no-new-privs"] : []),
    ];
  }

  async #passes(container: Container, which: "startupProbe" | "readinessProbe"): Promise<void> {
    const request = container[which]?.httpGet;
    if (request === undefined) return;
    const said = () => this.#programs.get(container.name ?? "")?.text ?? "";
    await until(
      async () => await this.#probe(request) === 200,
      () => `The ${which} of "${container.name}" in "${this.name}" never passes:\n${said()}`,
    );
  }

  /** The status of an answer; 0 without one. */
  async #probe({ path = "/", port }: { readonly path?: string; readonly port?: unknown }): Promise<number> {
    const host = this.address.includes(":") ? `[${this.address}]` : this.address;
    return (await this.options.prober.ask(`http://${host}:${port}${path}`)).status;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const each of [...this.#applications.values(), ...this.#programs.values()]) await each[Symbol.asyncDispose]();
    await this.volumes[Symbol.asyncDispose]();
    await Deno.remove(this.folder, { recursive: true });
  }
}

function statusOf(phase: "Pending" | "Running", addresses: readonly string[]) {
  const status = phase === "Running" ? "True" : "False";
  return {
    phase,
    podIP: addresses[0],
    podIPs: addresses.map((ip) => ({ ip })),
    hostIP: MACHINE[addresses[0]?.includes(":") ? 6 : 4],
    conditions: ["Ready", "ContainersReady"].map((type) => ({ type, status })),
  };
}

/** Statuses: all containers run, and init containers that are not sidecars have ended. */
function containersOf({ spec: { containers = [], initContainers = [] } = {} }: Pod) {
  const statusOfOne = ({ name, image, restartPolicy }: Container, isInit: boolean) => {
    const hasEnded = isInit && restartPolicy !== "Always";
    const state = hasEnded ? { terminated: { exitCode: 0, reason: "Completed" } } : { running: {} };
    return { name, image, imageID: "", ready: true, restartCount: 0, state };
  };
  return {
    containerStatuses: containers.map((each) => statusOfOne(each, false)),
    initContainerStatuses: initContainers.map((each) => statusOfOne(each, true)),
  };
}

async function patchStatus(api: KubeApi, { metadata: { namespace, name } }: Pod, status: object): Promise<Pod> {
  const object = await api.patch(`/api/v1/namespaces/${namespace}/pods/${name}/status`, "merge", { status });
  return isPod(object) ? object : fail("The API server answered no pod");
}

function fail(message: string): never {
  throw new Error(message);
}
