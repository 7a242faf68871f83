/** Pods of every kind on a node without capture: their API objects, and network namespaces with a process. */
import type { ValueMap } from "../../../../src/base/value.ts";
import type { Cluster } from "../../support/cluster/cluster.ts";
import { addRunningPod } from "../../support/kubelet.ts";
import { Namespace } from "../../iptables/support/pod.ts";

/** A kind of pod, with its differences from a Deployment's pod. */
export interface Kind {
  readonly name: string;
  readonly owner?: string;
  readonly spec?: ValueMap;
  readonly annotations?: ValueMap;
  readonly addresses?: readonly (4 | 6)[];
  /** Whether no container of the pod proves the capture. */
  readonly isSilent?: boolean;
}

const SIDECAR = { name: "istio-proxy", image: "proxy", args: ["proxy", "sidecar"] };
const VALIDATION = { name: "istio-validation", image: "proxy", args: ["istio-iptables", "-p", "15001", "-z", "15006"] };

export const KINDS: readonly Kind[] = [
  { name: "deployment", owner: "ReplicaSet" },
  { name: "statefulset", owner: "StatefulSet" },
  { name: "daemonset", owner: "DaemonSet" },
  { name: "job-never", owner: "Job", spec: { restartPolicy: "Never" } },
  { name: "job-on-failure", owner: "Job", spec: { restartPolicy: "OnFailure" } },
  { name: "bare" },
  {
    name: "native-sidecar",
    owner: "ReplicaSet",
    spec: {
      initContainers: [VALIDATION, { ...SIDECAR, restartPolicy: "Always" }],
      containers: [{ name: "app", image: "a" }],
    },
  },
  { name: "tproxy", owner: "ReplicaSet", annotations: { "sidecar.istio.io/interceptionMode": "TPROXY" } },
  { name: "ipv6", owner: "ReplicaSet", addresses: [6] },
  { name: "without-validation", owner: "ReplicaSet", spec: { initContainers: [] }, isSilent: true },
];

/** What the API shows: `silent` for nothing, `failed` if istio-validation exited with 126. */
export type Known = "silent" | "failed";

/** A pod with its network namespace and a process in it. */
export class StandingPod implements AsyncDisposable {
  private constructor(readonly name: string, readonly namespace: Namespace, readonly process: Deno.ChildProcess) {}

  static async create(cluster: Cluster, index: number, kind: Kind, known: Known): Promise<StandingPod> {
    const name = `${kind.name}-${known}`;
    const namespace = await Namespace.create();
    const families = kind.addresses ?? [4];
    const addresses = { 4: `10.88.0.${index + 1}`, 6: `fd88::${index + 1}` };
    await namespace.shell(
      `ip link set lo up; ip link add eth0 type veth peer name peer0; ip link set eth0 up; ip link set peer0 up; ` +
        families.map((family) => `ip addr add ${addresses[family]}${family === 4 ? "/24" : "/64 nodad"} dev eth0`).join(
          "; ",
        ),
    );
    const process = new Deno.Command("nsenter", { args: [`--net=${namespace.path}`, "sleep", "3600"] }).spawn();
    await addRunningPod(cluster, podOf(name, kind, known, families.map((family) => addresses[family])));
    return new StandingPod(name, namespace, process);
  }

  /** Whether the network namespace contains the rules. */
  async isCaptured(): Promise<boolean> {
    return (await this.namespace.shell("nft list tables")).includes("istio-proxy-nat");
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.process.kill("SIGKILL");
    await this.process.status;
    await this.namespace[Symbol.asyncDispose]();
  }
}

function podOf(name: string, kind: Kind, known: Known, ips: readonly string[]) {
  const owner = {
    apiVersion: "apps/v1",
    kind: kind.owner ?? "",
    name: "owner",
    uid: crypto.randomUUID(),
    controller: true,
  };
  const failure = { exitCode: 126, reason: "Error", finishedAt: "2026-01-01T00:00:00Z" };
  const waiting = { waiting: { reason: "CrashLoopBackOff" } };
  const validation = {
    name: "istio-validation",
    image: "p",
    imageID: "",
    ready: false,
    restartCount: 3,
    state: waiting,
  };
  const isFailed = known === "failed" && kind.isSilent !== true;
  return {
    metadata: {
      ...{ name, namespace: "shop" },
      annotations: { "sidecar.istio.io/status": "{}", ...kind.annotations },
      ...kind.owner === undefined ? {} : { ownerReferences: [owner] },
    },
    spec: {
      nodeName: "node-1",
      initContainers: [VALIDATION],
      containers: [{ name: "app", image: "app" }, SIDECAR],
      ...kind.spec,
    },
    status: {
      phase: isFailed ? "Pending" : "Running",
      podIP: ips[0] ?? "",
      podIPs: ips.map((ip) => ({ ip })),
      ...isFailed ? { initContainerStatuses: [{ ...validation, lastState: { terminated: failure } }] } : {},
    },
  };
}
