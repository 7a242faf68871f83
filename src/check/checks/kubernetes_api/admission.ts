/** What the command line of a kube-apiserver says. */
import type { KubeObject } from "../../../core/kube/client/mod.ts";
import { isList, isMap, type Value } from "../../../core/value.ts";

/** The API of webhook configurations. */
export const ADMISSION = "admissionregistration.k8s.io/v1";

/**
 * Why a plugin that is on unless told is off in a pod of kube-apiserver: the flag that says so; `undefined` if it is on.
 * Source: Kubernetes, "Admission Controllers Reference"; `--admission-control` is the list of all that are on, before 1.10.
 */
export function admissionOf(pod: KubeObject, plugin: string): string | undefined {
  const flags = flagsOf(pod);
  const listed = (name: string) => flags.filter((flag) => flag.startsWith(`--${name}=`));
  const names = (flag: string) => flag.slice(flag.indexOf("=") + 1).split(",").map((name) => name.trim());
  const disabling = listed("disable-admission-plugins").find((flag) => names(flag).includes(plugin));
  return disabling ?? listed("admission-control").find((flag) => !names(flag).includes(plugin));
}

/** The flags of the program that runs in a pod. */
export function flagsOf({ spec }: KubeObject): string[] {
  return wordsOf(spec).filter((word) => word.startsWith("--"));
}

function wordsOf(spec: Value | undefined): string[] {
  const containers = isMap(spec) ? spec["containers"] : undefined;
  return (isList(containers) ? containers : []).filter(isMap).flatMap(({ command, args }) => {
    return [command, args].flatMap((words) => isList(words) ? words : []).flatMap((word) => String(word).split(/\s+/));
  });
}
