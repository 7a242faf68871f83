/** Whether the proxy is a native sidecar: an init container that keeps running. */
import { NATIVE_SIDECAR } from "./names.ts";
import { annotation, type Pod } from "./pod_model.ts";

/** What ENABLE_NATIVE_SIDECARS says, and a warning if that is nothing it may say. */
export interface NativeSetting {
  readonly native: boolean;
  readonly warning?: string;
}

/**
 * The setting from the environment variable ENABLE_NATIVE_SIDECARS. `auto` asks the cluster's nodes; where no cluster is
 * asked it is off, as it is for istioctl.
 */
export function nativeSetting(text: string | undefined): NativeSetting {
  if (text === "true") return { native: true };
  if (text === undefined || ["", "false", "auto"].includes(text)) return { native: false };
  return {
    native: false,
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
