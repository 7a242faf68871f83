/** Whether the proxy is a native sidecar: an init container that keeps running. */
import { NATIVE_SIDECAR } from "../names.ts";
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
  const value = annotation(pod, NATIVE_SIDECAR);
  if (value === "true") return true;
  return value === "false" ? false : setting;
}
