/** A mesh whose pods `explain` reads through the API server: two clients, a server, a client with another root. */
import type { KubeApi } from "../../../../../src/kube/client/mod.ts";
import { writePilotAgent } from "../../../explain/support/live_scene.ts";
import { type KubeletNode, startKubelet } from "../../../support/kubelet.ts";
import type { MeshAuthority } from "../authority.ts";
import type { RunningPod } from "../kubelet/kubelet.ts";
import { RealMesh } from "../mesh.ts";
import { MACHINE } from "../network.ts";
import type { Namespace } from "../../../iptables/support/pod.ts";
import { type Made, NAMESPACE, podOf } from "../objects.ts";
import { WRITERS } from "../writers.ts";
import { definitions } from "./resources.ts";

/** `a` and `c` are clients, `c` has a Sidecar of its own; `b` is the server; `d` has certificates of another root. */
export type PodName = "a" | "b" | "c" | "d";

/** Ports that the server's application serves beside 8080; one is on loopback alone. */
const ALSO = [...Array.from({ length: 12 }, (_, at) => String(8081 + at)), "127.0.0.1:8098"];

export class EndsMesh implements AsyncDisposable {
  private constructor(
    readonly mesh: RealMesh,
    readonly pods: Readonly<Record<PodName, RunningPod>>,
    readonly node: KubeletNode,
    readonly stack: AsyncDisposableStack,
  ) {}

  static async create(): Promise<EndsMesh> {
    await using stack = new AsyncDisposableStack();
    const mesh = stack.use(
      await RealMesh.create({ proxyMetadata: { XDS_ROOT_CA: "/var/run/secrets/istio/root-cert.pem" } }),
    );
    const { api, cluster } = mesh.parts;
    for (const { path, body } of [...definitions(), plainPod()]) await api.create(path, body);
    await api.patch(`/api/v1/namespaces/${NAMESPACE}/pods/plain/status`, "merge", { status: PLAIN_STATUS });
    const node = stack.adopt(await startKubelet(cluster, "machine"), (node) => node.stop());
    const place = async (name: PodName) => stack.use(await mesh.injected(ownPod(name)));
    const [a, b, c, d] = [await place("a"), await place("b"), await place("c"), await place("d")];
    await certify(d, mesh.parts.root);
    const pods = { a, b, c, d };
    const folder = stack.adopt(
      await Deno.makeTempDir({ prefix: "mesh-ends-" }),
      (path) => Deno.remove(path, { recursive: true }),
    );
    await writePilotAgent(folder);
    const containers = Object.entries(pods).map(([name, { options }]) => {
      const command = ["nsenter", `--net=${options.network.namespace.path}`];
      return [`${NAMESPACE}/${name}/istio-proxy`, { command, path: `${folder}:${Deno.env.get("PATH")}` }] as const;
    });
    await node.runs(Object.fromEntries(containers));
    // The cluster has no kube-proxy: connections to addresses of Services must fail at once.
    await mesh.parts.network.machine.shell(
      "sysctl -qw net.ipv4.ip_forward=1 net.ipv4.icmp_ratelimit=0; ip route add unreachable default",
    );
    stack.adopt(nameServer(mesh.parts.network.machine), stopped);
    await Promise.all([a, b, c, d].map((pod) => pod.startReady()));
    return new EndsMesh(mesh, pods, node, stack.move());
  }

  get api(): KubeApi {
    return this.mesh.parts.api;
  }

  async create(made: readonly Made[]): Promise<void> {
    for (const { path, body } of made) await this.api.create(path, body);
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.stack.disposeAsync();
  }
}

/** A name server of the cluster that knows no name (NXDOMAIN): the names of the mesh come from the agent. */
const NAME_SERVER = `
import socket
server = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
server.bind(("${MACHINE[4]}", 53))
while True:
    asked, peer = server.recvfrom(4096)
    server.sendto(asked[:2] + bytes([0x81, 0x83]) + asked[4:6] + bytes(6) + asked[12:asked.index(0, 12) + 5], peer)
`;

function nameServer({ path }: Namespace): Deno.ChildProcess {
  const args = [`--net=${path}`, "python3", "-c", NAME_SERVER];
  return new Deno.Command("nsenter", { args, stdin: "null", stdout: "null" }).spawn();
}

async function stopped(child: Deno.ChildProcess): Promise<void> {
  child.kill("SIGKILL");
  await child.status;
}

function ownPod(name: PodName): Made {
  const made = podOf("a", { name });
  const env = name === "b" ? [{ name: "ALSO", value: ALSO.join(",") }] : [];
  const containers = [{ name: "app", image: "app:1", env, ports: [{ containerPort: 8080 }] }];
  return {
    path: made.path,
    body: {
      apiVersion: "v1",
      kind: "Pod",
      metadata: { name, namespace: NAMESPACE, labels: { app: name, version: "v1" } },
      spec: {
        serviceAccountName: name === "b" ? "b" : "a",
        automountServiceAccountToken: false,
        nodeName: "machine",
        containers,
      },
    },
  };
}

/** A client that is not in the mesh, with the machine's address. */
function plainPod(): Made {
  const spec = { containers: [{ name: "app", image: "app:1" }], nodeName: "machine" };
  const labels = { "sidecar.istio.io/inject": "false" };
  const body = { apiVersion: "v1", kind: "Pod", metadata: { name: "plain", namespace: NAMESPACE, labels }, spec };
  return { path: `/api/v1/namespaces/${NAMESPACE}/pods`, body };
}

const PLAIN_STATUS = { phase: "Running", podIP: MACHINE[4], podIPs: [{ ip: MACHINE[4] }] };

/** Replaces the pod's certificate by one of this authority. */
export async function certify(pod: RunningPod, authority: MeshAuthority, turn = 0): Promise<void> {
  const { certificate, key } = authority.issue(`spiffe://cluster.local/ns/${NAMESPACE}/sa/a`);
  const files = { "cert-chain.pem": certificate, "key.pem": key, "root-cert.pem": authority.root };
  await WRITERS.projected(pod.volumes.path("workload-certs"), files, turn);
}
