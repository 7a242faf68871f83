/**
 * Whether the kubelets support native sidecars. Source: KEP-753: enabled by default since Kubernetes 1.29. An older
 * node runs a native sidecar as an init container and waits for its end forever.
 */
import type { Node, Pod } from "../../../core/kube/client/mod.ts";
import { containersOf, kubeletMinor, kubeletVersion } from "../../../inject/mod.ts";
import { byHand } from "../../advice/advice.ts";
import type { Finding } from "../../check.ts";
import { type Facts, forAdvice } from "../../facts.ts";
import { findingOf } from "../findings.ts";

const MINOR = 29;
const PROXY = "istio-proxy";

/** An error if the cluster has native sidecars, else a warning. */
export async function nativeSidecars(facts: Facts): Promise<Finding> {
  const nodes = await facts.nodes();
  if (nodes.length === 0) return { result: "skipped", message: "the cluster has no nodes" };
  const old = nodes.filter(isOld);
  if (old.length === 0) return { result: "ok" };
  const inUse = (await facts.pods()).some(hasNativeProxy);
  const consequence = inUse
    ? "pods with a native sidecar do not start on it"
    : "proxies on it do not start before init containers, nor end with a Job";
  const problems = old.map((node) => ({
    object: `node/${node.metadata.name}`,
    result: inUse ? "error" as const : "warning" as const,
    message: `runs Kubernetes ${kubeletVersion(node)}: ${consequence}`,
  }));
  return findingOf(problems, [byHand(`upgrade the nodes to Kubernetes 1.${MINOR} or later`)]);
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
