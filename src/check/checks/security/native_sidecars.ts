/**
 * Whether the kubelets support native sidecars. Source: KEP-753: enabled by default since Kubernetes 1.29. An older
 * node runs a native sidecar as an init container and waits for its end forever.
 */
import type { Node, Pod } from "../../../kube/client/mod.ts";
import { containersOf, findProxy, kubeletMinor, kubeletVersion, specOf } from "../../../inject/mod.ts";
import { type Advice, byHand, harmless } from "../../advice/advice.ts";
import { kubectl } from "../../advice/commands.ts";
import type { Finding } from "../../check.ts";
import { type Facts, forAdvice } from "../../facts.ts";
import { isAlive } from "../../inventory/live_pods.ts";
import { findingOf } from "../findings.ts";

const MINOR = 29;
const PROXY = "istio-proxy";

/** An error if the cluster has native sidecars, else a warning. A node without pods that gets no new ones does not count. */
export async function nativeSidecars(facts: Facts): Promise<Finding> {
  const nodes = await facts.nodes();
  if (nodes.length === 0) return { result: "skipped", message: "the cluster has no nodes" };
  const old = nodes.filter(isOld);
  if (old.length === 0) return { result: "ok" };
  const pods = await facts.pods();
  const inUse = pods.some(hasNativeProxy);
  const hasMeshPods = (name: string) => pods.some((pod) => specOf(pod)["nodeName"] === name && isInMesh(pod));
  const used = old.filter((node) => !isCordoned(node) || hasMeshPods(node.metadata.name));
  const consequence = inUse
    ? "pods with a native sidecar do not start on it"
    : "proxies on it do not start before init containers, nor end with a Job";
  const problems = used.map((node) => ({
    object: `node/${node.metadata.name}`,
    result: inUse ? "error" as const : "warning" as const,
    message: `runs Kubernetes ${kubeletVersion(node)}: ${consequence}`,
  }));
  const upgrade = byHand(`upgrade the nodes to Kubernetes 1.${MINOR} or later`);
  const hasOthers = nodes.some((node) => !isOld(node) && !isCordoned(node));
  return findingOf(problems, ({ name }) => hasOthers ? [upgrade, drained(name)] : [upgrade]);
}

/** Pods with a proxy have volumes of the kind emptyDir. */
function drained(name: string): Advice {
  return harmless("until then, move their pods to the newer nodes", "cluster", {
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

function isInMesh(pod: Pod): boolean {
  return isAlive(pod) && findProxy(pod) !== undefined;
}

/** Whether all nodes run native sidecars. Advice needs it: on another node the pod would not start. */
export async function haveNativeSidecars(facts: Pick<Facts, "nodes">): Promise<boolean> {
  const nodes = await forAdvice(facts.nodes()) ?? [];
  return nodes.length > 0 && !nodes.some(isOld);
}

function hasNativeProxy(pod: Pod): boolean {
  return containersOf(pod, "initContainers").some(({ name }) => name === PROXY);
}

/** An unreadable version counts as new. */
function isOld(node: Node): boolean {
  return (kubeletMinor(node) ?? Infinity) < MINOR;
}
