/** Whether the proxy is a native sidecar: an init container that keeps running. */
import { ANNOTATION } from "../../istio/mod.ts";
import { mapAt, newMap, textAt, type Value, type ValueMap } from "../../base/value.ts";
import { annotation, type Pod } from "../pod/pod.ts";

/** What a user may set: `auto` as `ENABLE_NATIVE_SIDECARS` has it, `jobs` for pods that end by themselves alone. */
export type NativeOption = boolean | "auto" | "jobs";

/** Whether known nodes decide; `if-any`: a cluster without nodes means no. */
export type NodesAsked = "never" | "if-any" | "always";

/** The setting of ENABLE_NATIVE_SIDECARS, with a warning for an invalid value. */
export interface NativeSetting {
  readonly native: boolean;
  readonly nodes: NodesAsked;
  readonly warning?: string;
}

/**
 * Reads the environment variable ENABLE_NATIVE_SIDECARS. Without a cluster `auto` is off, as in istioctl.
 *
 * | value | nodes known | no nodes there | no cluster |
 * |---|---|---|---|
 * | `true`, `false` | on, off | on, off | on, off |
 * | `auto` | if their kubelets support it | on, as in istiod | off |
 * | unset | if their kubelets and the template support it | off | off |
 */
export function nativeSetting(text: string | undefined): NativeSetting {
  if (text === "true") return { native: true, nodes: "never" };
  if (text === "auto") return { native: false, nodes: "always" };
  if (text === undefined || text === "") return { native: false, nodes: "if-any" };
  if (text === "false") return { native: false, nodes: "never" };
  return {
    native: false,
    nodes: "never",
    warning: `ENABLE_NATIVE_SIDECARS is "${text}", but must be "true", "false" or "auto": "false" is used`,
  };
}

/** The setting for one pod: its annotation if that is exactly `true` or `false`, else the general setting. */
export function nativeForPod(pod: Pod, setting: boolean): boolean {
  const value = annotation(pod, ANNOTATION.nativeSidecar);
  if (value === "true") return true;
  return value === "false" ? false : setting;
}

/** Nodes of a cluster, in the form of their JSON. */
export interface NativeNodes {
  /** By name: whether the kubelet is new enough. */
  readonly byName: Readonly<Record<string, Value>>;
  /** Whether all kubelets are new enough. */
  readonly all: boolean;
}

/** istiod requires Kubernetes 1.33, where native sidecars are stable (KEP-753). */
const MINOR = 33;

/** Reads nodes. An unreadable version counts as old. */
export function nativeNodes(nodes: Iterable<ValueMap>): NativeNodes {
  const byName = newMap();
  for (const node of nodes) byName[textAt(mapAt(node, "metadata"), "name")] = (kubeletMinor(node) ?? 0) >= MINOR;
  return { byName, all: Object.values(byName).every((isNew) => isNew) };
}

/** The version of a node's kubelet, such as `v1.28.3-gke.100`, or `""`. */
export function kubeletVersion(node: ValueMap): string {
  return textAt(mapAt(mapAt(node, "status"), "nodeInfo"), "kubeletVersion");
}

/** The minor number of that version: 28; `undefined` if it is unreadable. */
export function kubeletMinor(node: ValueMap): number | undefined {
  const minor = /^v1\.(\d+)/.exec(kubeletVersion(node))?.[1];
  return minor === undefined ? undefined : Number(minor);
}

/** Whether the proxy of a pod is native: the pod's own node decides, else all nodes. */
export function nativeByNodes(asked: NodesAsked, nodes: NativeNodes | undefined, nodeName: string): boolean {
  if (asked === "never" || nodes === undefined) return false;
  if (Object.hasOwn(nodes.byName, nodeName)) return nodes.byName[nodeName] === true;
  return nodes.all && (asked === "always" || Object.keys(nodes.byName).length > 0);
}
