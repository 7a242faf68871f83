/** Decides whether the proxy is a native sidecar: an init container with `restartPolicy: Always`. */
import { ANNOTATION } from "../../istio/mod.ts";
import { mapAt, newMap, textAt, type Value, type ValueMap } from "../../base/value.ts";
import { annotation, type Pod } from "../pod/pod.ts";

/** Values of the option: `auto` as in ENABLE_NATIVE_SIDECARS; `jobs` for native sidecars only in pods that run to completion. */
export type NativeOption = boolean | "auto" | "jobs";

/**
 * When kubelet versions decide whether proxies are native sidecars. `if-any` means: only in a cluster that has nodes. A
 * cluster without nodes then gets no native sidecars.
 */
export type NodesAsked = "never" | "if-any" | "always";

/** The setting of ENABLE_NATIVE_SIDECARS, with a warning for an invalid value. */
export interface NativeSetting {
  readonly native: boolean;
  readonly nodes: NodesAsked;
  readonly warning?: string;
}

/**
 * Parses the value of ENABLE_NATIVE_SIDECARS. Without a cluster, `auto` is off, as in istioctl.
 *
 * | value | cluster with nodes | cluster without nodes | no cluster |
 * |---|---|---|---|
 * | `true`, `false` | on, off | on, off | on, off |
 * | `auto` | if their kubelets support it | on, as in istiod | off |
 * | unset | if their kubelets and the template support it | off | off |
 */
export function nativeSetting(text = ""): NativeSetting {
  const warning = `ENABLE_NATIVE_SIDECARS is "${text}", but must be "true", "false" or "auto"; "false" is used`;
  return SETTINGS.get(text) ?? { native: false, nodes: "never", warning };
}

const SETTINGS: ReadonlyMap<string, NativeSetting> = new Map([
  ["true", { native: true, nodes: "never" }],
  ["false", { native: false, nodes: "never" }],
  ["auto", { native: false, nodes: "always" }],
  ["", { native: false, nodes: "if-any" }],
]);

/** What a user chose for native sidecars. Replaces the setting of a control plane. */
export interface NativeChoice extends NativeSetting {
  /** Native sidecars only in pods that run to completion. */
  readonly jobs: boolean;
}

/**
 * Returns the user's choice: `option`, or else the value of ENABLE_NATIVE_SIDECARS; `undefined` if the user set neither.
 * Nodes do not matter if the choice is a boolean or `jobs`.
 */
export function nativeChoice(option: NativeOption | undefined, variable: string | undefined): NativeChoice | undefined {
  if (option === "jobs") return { native: false, nodes: "never", jobs: true };
  if (typeof option === "boolean") return { native: option, nodes: "never", jobs: false };
  const text = option ?? variable ?? "";
  return text === "" ? undefined : { ...nativeSetting(text), jobs: false };
}

/** The setting for one pod: its annotation if the value is exactly `true` or `false`, otherwise `setting`. */
export function nativeForPod(pod: Pod, setting: boolean): boolean {
  const value = annotation(pod, ANNOTATION.nativeSidecar);
  if (value === "true") return true;
  return value === "false" ? false : setting;
}

export interface NativeNodes {
  /** Whether the kubelet is new enough, by node name. */
  readonly byName: Readonly<Record<string, Value>>;
  readonly all: boolean;
}

/** Minor version of Kubernetes from which istiod uses native sidecars, because they are stable there (KEP-753). */
const MINOR = 33;

/** Checks each node's kubelet version. An unreadable version counts as too old. */
export function nativeNodes(nodes: Iterable<ValueMap>): NativeNodes {
  const byName = newMap();
  for (const node of nodes) byName[textAt(mapAt(node, "metadata"), "name")] = (kubeletMinor(node) ?? 0) >= MINOR;
  return { byName, all: Object.values(byName).every((isNew) => isNew) };
}

/** A node's kubelet version, such as `v1.28.3-gke.100`; `""` if the node does not report it. */
export function kubeletVersion(node: ValueMap): string {
  return textAt(mapAt(mapAt(node, "status"), "nodeInfo"), "kubeletVersion");
}

/** The minor number of a node's kubelet version, such as 28; `undefined` if the version is unreadable. */
export function kubeletMinor(node: ValueMap): number | undefined {
  const minor = /^v1\.(\d+)/.exec(kubeletVersion(node))?.[1];
  return minor === undefined ? undefined : Number(minor);
}

/**
 * Whether a pod's proxy is a native sidecar. If the pod's node is known, that node must support native sidecars;
 * otherwise all nodes must.
 */
export function nativeByNodes(asked: NodesAsked, nodes: NativeNodes | undefined, nodeName: string): boolean {
  if (asked === "never" || nodes === undefined) return false;
  if (Object.hasOwn(nodes.byName, nodeName)) return nodes.byName[nodeName] === true;
  return nodes.all && (asked === "always" || Object.keys(nodes.byName).length > 0);
}
