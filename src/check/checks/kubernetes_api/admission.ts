/** Reads the command line of a kube-apiserver. */
import type { Pod } from "../../../kube/client/mod.ts";

export const ADMISSION = "admissionregistration.k8s.io/v1";

/**
 * Returns the flag that disables a default admission plugin of a kube-apiserver; `undefined` if the plugin is enabled.
 * Source: Kubernetes, "Admission Controllers Reference"; before 1.10 `--admission-control` lists all enabled plugins.
 */
export function admissionOf(pod: Pod, plugin: string): string | undefined {
  const flags = flagsOf(pod);
  const listed = (name: string) => flags.filter((flag) => flag.startsWith(`--${name}=`));
  const names = (flag: string) => flag.slice(flag.indexOf("=") + 1).split(",").map((name) => name.trim());
  const disabling = listed("disable-admission-plugins").find((flag) => names(flag).includes(plugin));
  return disabling ?? listed("admission-control").find((flag) => !names(flag).includes(plugin));
}

export function flagsOf({ spec }: Pod): string[] {
  const containers = spec?.containers ?? [];
  const words = containers.flatMap(({ command = [], args = [] }) => [...command, ...args]);
  return words.flatMap((word) => word.split(/\s+/)).filter((word) => word.startsWith("--"));
}
