/** Checks that kubelets support native sidecars (since 1.29, KEP-753). Older kubelets wait until the sidecar exits. */
import type { Node, Pod } from "../../../kube/client/mod.ts";
import { containersOf, findProxy, kubeletMinor, kubeletVersion, PROXY, specOf } from "../../../inject/mod.ts";
import { type Advice, byHand, harmless } from "../../advice/advice.ts";
import { kubectl } from "../../advice/commands.ts";
import type { Finding } from "../../check.ts";
import { type Facts, forAdvice } from "../../facts.ts";
import { isAlive } from "../../inventory/live_pods.ts";
import { findingOf } from "../findings.ts";

const MINOR = 29;

/** Reports old nodes: errors if native sidecars are in use, else warnings. Skips cordoned nodes without mesh pods. */
export async function nativeSidecars(facts: Facts): Promise<Finding> {
  const nodes = await facts.nodes();
  if (nodes.length === 0) return { result: "skipped", message: "the cluster has no nodes" };
  const old = nodes.filter(isOld);
  if (old.length === 0) return { result: "ok" };
  const pods = await facts.pods();
  const inUse = pods.some(hasNativeProxy);
  const hasMeshPods = (name: string) =>
    pods.some((pod) => specOf(pod)["nodeName"] === name && isAlive(pod) && findProxy(pod) !== undefined);
  const used = old.filter((node) => !isCordoned(node) || hasMeshPods(node.metadata.name));
  const consequence = inUse
    ? "pods with a native sidecar do not start on this node"
    : "proxies on this node start after init containers and do not exit with a Job";
  const problems = used.map((node) => ({
    object: `node/${node.metadata.name}`,
    result: inUse ? "error" as const : "warning" as const,
    message: `runs Kubernetes ${kubeletVersion(node)}: ${consequence}`,
  }));
  const upgrade = byHand(`upgrade the nodes to Kubernetes 1.${MINOR} or later`);
  const hasOthers = nodes.some((node) => !isOld(node) && !isCordoned(node));
  return findingOf(problems, ({ name }) => hasOthers ? [upgrade, drained(name)] : [upgrade]);
}

/** Advice to drain a node. The command deletes emptyDir data, because pods with a proxy use emptyDir volumes. */
function drained(name: string): Advice {
  return harmless("until then, move the pods to newer nodes", "cluster", {
    command: kubectl("drain", name, "--ignore-daemonsets", "--delete-emptydir-data"),
    needs: [
      { verb: "patch", group: "", resource: "nodes", name },
      { verb: "create", group: "", resource: "pods/eviction" },
    ],
  });
}

function isCordoned({ spec }: Node): boolean {
  return spec?.unschedulable === true;
}

/** Whether all nodes support native sidecars. Only advice depends on the result. */
export async function haveNativeSidecars(facts: Pick<Facts, "nodes">): Promise<boolean> {
  const nodes = await forAdvice(facts.nodes()) ?? [];
  return nodes.length > 0 && !nodes.some(isOld);
}

function hasNativeProxy(pod: Pod): boolean {
  return containersOf(pod, "initContainers").some(({ name }) => name === PROXY);
}

/** Whether the kubelet is too old for native sidecars. False for a version that cannot be parsed. */
function isOld(node: Node): boolean {
  return (kubeletMinor(node) ?? Infinity) < MINOR;
}
