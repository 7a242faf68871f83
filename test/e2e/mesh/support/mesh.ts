/** A mesh with a real istiod and a real API server that calls this program's webhook. Nothing else injects its pods. */
import assert from "node:assert/strict";
import {
  type ConfigMap,
  connect,
  isConfigMap,
  isPod,
  type KubeConnection,
  ofKind,
  type Pod,
} from "../../../../src/kube/client/mod.ts";
import { realWorld } from "../../../../src/platform/mod.ts";
import { realEnvoy } from "../../../support/programs/envoy.ts";
import { until } from "../../../support/until.ts";
import { needsPlace } from "../../agent/support/agent.ts";
import { APPLICATION, Application } from "../../agent/support/application.ts";
import { type Family, needsNamespaces } from "../../iptables/support/pod.ts";
import { CniNode } from "../../cni/support/node.ts";
import { type Cluster, startCluster } from "../../support/cluster/cluster.ts";
import { register, startWebhook, type WebhookProcess } from "../../support/webhook.ts";
import { type Agent, OURS } from "./agents.ts";
import { MeshAuthority } from "./authority.ts";
import { tunnel } from "./door.ts";
import { Istiod, istiodProgram } from "./istiod.ts";
import { type Image, type PodOptions, RunningPod } from "./kubelet/kubelet.ts";
import { type Made, NAMESPACE, objectsOf, podOf, serviceOf, type Shape, slicesOf } from "./objects.ts";
import { MACHINE, MeshNetwork } from "./network.ts";
import { RELEASE } from "./release.ts";

const envoy = await realEnvoy();

/** Why these tests cannot run here, besides `needsCluster`; `undefined` if they can. */
export const missing = needsNamespaces("setpriv") ?? needsPlace("as PID 1") ?? envoy.missing ??
  (await istiodProgram()).missing;

/** How a mesh is made. */
export interface MeshOptions {
  /** The validity of certificates that pods ask for. */
  readonly ttl?: string;
  /** The agent of the proxies and init containers; by default this program's. */
  readonly agent?: Agent;
  /** Environment of proxies and init containers. */
  readonly proxyMetadata?: Readonly<Record<string, string>>;
  readonly istiodEnv?: Readonly<Record<string, string>>;
}

/** Two pods of one shape: the application of `a` asks the service of `b`. */
export interface PodPair extends AsyncDisposable {
  readonly a: RunningPod;
  readonly b: RunningPod;
  /** The URLs of the service: by its name first, then by each of its addresses. */
  readonly urls: readonly string[];
}

/** The parts that a mesh is made of. */
interface Parts {
  readonly cluster: Cluster;
  readonly api: KubeConnection;
  readonly network: MeshNetwork;
  readonly istiod: Istiod;
  readonly webhook: WebhookProcess;
  readonly prober: Application;
  readonly root: MeshAuthority;
  readonly proxy: Image;
}

/** A mesh that ends with the test. */
export class RealMesh implements AsyncDisposable {
  readonly #stack: AsyncDisposableStack;
  #values = "";
  #node: CniNode | undefined;

  private constructor(readonly parts: Parts, stack: AsyncDisposableStack) {
    this.#stack = stack;
  }

  /** Starts the API server, the webhook and istiod. There are no pods yet. */
  static async create(options: MeshOptions = {}): Promise<RealMesh> {
    await using stack = new AsyncDisposableStack();
    const cluster = stack.adopt(await startCluster(), (cluster) => cluster.stop());
    const api = stack.adopt(await connect(realWorld(), { kubeconfig: cluster.kubeconfig }), (api) => api.close());
    const mesh = meshConfig(options);
    const { config, values = "" } = RELEASE ?? {};
    const injector = { mesh: JSON.stringify(mesh), values, ...config === undefined ? {} : { config } };
    const webhook = stack.adopt(await startWebhook(injector), stopped);
    const network = stack.use(await MeshNetwork.create());
    const prober = stack.use(await Application.start(network.machine.path));
    const folder = stack.adopt(await Deno.makeTempDir({ prefix: "mesh-whole-" }), removed);
    stack.use(await tunnel(network.machine, Number(new URL(api.server).port), `${folder}/api`));
    const common = { namespace: network.machine, prober, kubeconfig: cluster.kubeconfig, mesh };
    const istiod = stack.use(await Istiod.create({ ...common, env: options.istiodEnv ?? {} }));
    const root = new MeshAuthority();
    const parts = {
      cluster,
      api,
      network,
      istiod,
      webhook,
      prober,
      root,
      proxy: await (options.agent ?? OURS).image(),
    };
    const whole = new RealMesh(parts, stack.move());
    await whole.#install().catch(async (error) => {
      await whole[Symbol.asyncDispose]();
      throw error;
    });
    return whole;
  }

  get istiod(): Istiod {
    return this.parts.istiod;
  }

  async #install(): Promise<void> {
    const { api, cluster, istiod, webhook, root } = this.parts;
    await register(cluster, { port: webhook.port, authority: webhook.authority });
    for (const { path, body } of objectsOf()) {
      await until(() => api.create(path, body).then(() => true, () => false), () => `${path} cannot be created`);
    }
    await istiod.plugIn(root.files([root]));
    await istiod.start();
    await this.hasRoots(root.root);
  }

  /** Waits until istiod has written these roots for the pods. */
  async hasRoots(roots: string): Promise<void> {
    const path = `/api/v1/namespaces/${NAMESPACE}/configmaps/istio-ca-root-cert`;
    const written = async () => ofKind<ConfigMap>(await this.parts.api.get(path), isConfigMap)?.data?.["root-cert.pem"];
    await until(
      async () => (await written())?.trim() === roots.trim(),
      () => `istiod does not write the roots:\n${this.istiod.log().slice(-4000)}`,
    );
  }

  /** Merges Helm values over the webhook's, for new pods. */
  async useValues(values: string): Promise<void> {
    if (values === this.#values) return;
    await this.configure("values.yaml", values);
    this.#values = values;
  }

  /** Lets the CNI plugin capture new pods, before their first container starts. */
  async useCniPlugin(): Promise<void> {
    const node = this.#stack.use(await CniNode.create());
    await Deno.copyFile(this.parts.cluster.kubeconfig, `${node.folder}/run/mesh-cni-kubeconfig`);
    await node.configure("1.0.0", { cni_agent_run_dir: `${node.folder}/run` });
    this.#node = node;
  }

  /** Replaces a file of the webhook's configuration, for new pods. */
  async configure(file: "config.yaml" | "values.yaml", text: string): Promise<void> {
    const { webhook } = this.parts;
    const said = webhook.log().length;
    await webhook.write(file, text);
    await webhook.logged("configuration", said);
  }

  /**
   * Creates two pods, which the webhook injects, and their service. They run when `start` is called. `agent`: the agent
   * of their proxies, in place of the mesh's.
   */
  async pair(shape: Shape, agent?: Agent): Promise<PodPair> {
    await using stack = new AsyncDisposableStack();
    const service = await this.#service(shape);
    const proxy = await agent?.image();
    const [a, b] = [stack.use(await this.#pod("a", shape, proxy)), stack.use(await this.#pod("b", shape, proxy))];
    for (const { path, body } of slicesOf(shape, b)) await this.parts.api.create(path, body);
    const own = stack.move();
    return { a, b, urls: service, [Symbol.asyncDispose]: () => own.disposeAsync() };
  }

  /** The same, started and ready. */
  async readyPair(shape: Shape, agent?: Agent): Promise<PodPair> {
    const pair = await this.pair(shape, agent);
    try {
      await Promise.all([pair.a.startReady(), pair.b.startReady()]);
      return pair;
    } catch (error) {
      await pair[Symbol.asyncDispose]();
      throw error;
    }
  }

  /** Another pod of the service, with a number in its name; no EndpointSlice has it yet. */
  async replica(shape: Shape, number: number): Promise<RunningPod> {
    return await this.#pod("b", { ...shape, number }, undefined);
  }

  async #service(shape: Shape): Promise<readonly string[]> {
    const { path, body, name } = serviceOf(shape);
    const { spec } = await this.parts.api.create(path, body);
    const addresses: readonly string[] = JSON.parse(JSON.stringify(spec))["clusterIPs"];
    const hosts = [name, ...addresses.map((address) => address.includes(":") ? `[${address}]` : address)];
    return hosts.map((host) => `http://${host}:8080/headers`);
  }

  async #pod(name: "a" | "b", shape: Shape, proxy: Image | undefined): Promise<RunningPod> {
    return await this.place(await this.#injected(podOf(name, shape)), shape.families, proxy);
  }

  /** Creates a pod, which the webhook injects. It runs when `start` is called. */
  async injected(pod: Made): Promise<RunningPod> {
    return await this.place(await this.#injected(pod));
  }

  /** Makes a running pod of an object of the cluster. It runs when `start` is called. */
  async place(pod: Pod, families: readonly Family[] = [4], proxy = this.parts.proxy): Promise<RunningPod> {
    const { api, network, prober } = this.parts;
    const machine = MACHINE[families[0] ?? 4];
    const search = `${pod.metadata.namespace}.svc.cluster.local svc.cluster.local cluster.local`;
    return await RunningPod.make({
      api,
      pod,
      network: await network.add(families),
      images: { proxyv2: proxy, app: { entry: APPLICATION, isApplication: true } },
      prober,
      hosts: `127.0.0.1 localhost\n::1 localhost\n${machine} istiod.istio-system.svc istiod-canary.istio-system.svc\n`,
      ...this.#node === undefined ? {} : { joinNetwork: joining(this.#node) },
      resolv: `nameserver ${machine}\nsearch ${search}\noptions ndots:5\n`,
    });
  }

  /** Creates a pod. Retries dry runs before, because the registration of the webhook takes effect late. */
  async #injected(pod: Made): Promise<Pod> {
    const { api } = this.parts;
    const create = async (path: string) => ofKind<Pod>(await api.create(path, pod.body), isPod);
    const isInjected = (made?: Pod) => made?.metadata.annotations?.["sidecar.istio.io/status"] !== undefined;
    const tried = () => create(`${pod.path}?dryRun=All`).then(isInjected, () => false);
    await until(tried, "The webhook injects no pod");
    const created = await create(pod.path);
    assert.ok(created !== undefined && isInjected(created), "The pod is not injected");
    return created;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#stack.disposeAsync();
  }
}

/**
 * The configuration of the mesh, for istiod and for the webhook. Without `defaultProviders` istiod adds no Istio
 * filter.
 */
function meshConfig({ ttl = "24h", proxyMetadata = {} }: MeshOptions) {
  const metadata = {
    SECRET_TTL: ttl,
    ISTIO_META_DNS_CAPTURE: "true",
    CLOUD_PLATFORM: "none",
    PEER_METADATA_DISCOVERY: "false",
    ...proxyMetadata,
  };
  const discoveryAddress = "istiod.istio-system.svc:15012";
  return {
    ...RELEASE?.mesh,
    trustDomain: "cluster.local",
    rootNamespace: "istio-system",
    enablePrometheusMerge: false,
    defaultProviders: {},
    defaultConfig: { discoveryAddress, binaryPath: envoy.path, concurrency: 1, proxyMetadata: metadata },
  };
}

async function stopped(webhook: WebhookProcess): Promise<void> {
  await webhook.stop();
}

async function removed(path: string): Promise<void> {
  await Deno.remove(path, { recursive: true });
}

/** Calls the plugins of a node for a pod. Throws with the reason that a kubelet would show. */
function joining(node: CniNode): NonNullable<PodOptions["joinNetwork"]> {
  return async ({ metadata: { namespace = "", name } }, netns) => {
    const { code, stderr } = await node.cnitool("add", netns, { namespace, name });
    if (code !== 0) throw new Error(`The pod "${name}" cannot join the network: ${stderr}`);
  };
}
