/** Which nodes run native sidecars well enough for all proxies to be some. */
import { mapAt, newMap, textAt, type Value, type ValueMap } from "../../core/value.ts";
import type { NodesAsked } from "./native.ts";

/** Nodes of a cluster, as JSON has them. */
export interface NativeNodes {
  /** By name: whether its kubelet is new enough. */
  readonly byName: Readonly<Record<string, Value>>;
  /** Whether those of all nodes are. */
  readonly all: boolean;
}

/** Kubernetes 1.33, in which native sidecars are stable (KEP-753): what istiod asks of nodes. */
const MINOR = 33;

/** What is known of nodes. A version that cannot be read is an old one. */
export function nativeNodes(nodes: Iterable<ValueMap>): NativeNodes {
  const byName = newMap();
  for (const node of nodes) byName[textAt(mapAt(node, "metadata"), "name")] = (kubeletMinor(node) ?? 0) >= MINOR;
  return { byName, all: Object.values(byName).every((isNew) => isNew) };
}

/** The version of a node's kubelet, such as `v1.28.3-gke.100`; `""` if it tells none. */
export function kubeletVersion(node: ValueMap): string {
  return textAt(mapAt(mapAt(node, "status"), "nodeInfo"), "kubeletVersion");
}

/** The minor number of that version: 28; `undefined` if it cannot be read. */
export function kubeletMinor(node: ValueMap): number | undefined {
  const minor = /^v1\.(\d+)/.exec(kubeletVersion(node))?.[1];
  return minor === undefined ? undefined : Number(minor);
}

/** Whether the proxy of a pod is native: as the pod's own node has it, else as all nodes have it. */
export function nativeByNodes(asked: NodesAsked, nodes: NativeNodes | undefined, nodeName: string): boolean {
  if (asked === "never" || nodes === undefined) return false;
  if (Object.hasOwn(nodes.byName, nodeName)) return nodes.byName[nodeName] === true;
  return nodes.all && (asked === "always" || Object.keys(nodes.byName).length > 0);
}
