/** Whether the proxy is a native sidecar: an init container that keeps running. */
import { ANNOTATION } from "../../core/mesh/mod.ts";
import { mapAt, newMap, textAt, type Value, type ValueMap } from "../../core/value.ts";
import { annotation, type Pod } from "../pod/pod.ts";

/** Whether nodes are asked where they are known; `if-any`: a cluster without nodes says no. */
export type NodesAsked = "never" | "if-any" | "always";

/** What ENABLE_NATIVE_SIDECARS says, and a warning if that is nothing it may say. */
export interface NativeSetting {
  readonly native: boolean;
  readonly nodes: NodesAsked;
  readonly warning?: string;
}

/**
 * The setting from the environment variable ENABLE_NATIVE_SIDECARS. Where no cluster is asked `auto` is off, as it is for
 * istioctl.
 *
 * | value | nodes known | no nodes there | no cluster |
 * |---|---|---|---|
 * | `true`, `false` | as it says | as it says | as it says |
 * | `auto` | what their kubelets can | on, as istiod has it | off |
 * | none | what their kubelets can, for templates that know of it | off | off |
 */
export function nativeSetting(text: string | undefined): NativeSetting {
  if (text === "true") return { native: true, nodes: "never" };
  if (text === "auto") return { native: false, nodes: "always" };
  if (text === undefined || text === "") return { native: false, nodes: "if-any" };
  if (text === "false") return { native: false, nodes: "never" };
  return {
    native: false,
    nodes: "never",
    warning:
      `ENABLE_NATIVE_SIDECARS has the value "${text}", which is none of "true", "false" and "auto": it counts as "false"`,
  };
}

/** For one pod: its annotation if that is exactly `true` or `false`, else the setting. */
export function nativeForPod(pod: Pod, setting: boolean): boolean {
  const value = annotation(pod, ANNOTATION.nativeSidecar);
  if (value === "true") return true;
  return value === "false" ? false : setting;
}

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
