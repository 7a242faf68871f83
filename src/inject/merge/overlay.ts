/** Merges rendered templates into a pod. */
import { PatchError, strategicMerge } from "../../kube/mod.ts";
import { mapsAt, newMap, textAt, type ValueMap } from "../../base/value.ts";
import { withKey, withSpecKey } from "../pod/change.ts";
import {
  type ContainerList,
  containerNamed,
  containersOf,
  type Pod,
  PROBERS_ENV,
  PROMETHEUS_ENV,
  PROXY,
  specOf,
} from "../pod/pod.ts";
import { InjectionError } from "../injection_error.ts";

/** The pod with all templates merged into it, and the templates merged into an empty pod. */
export interface Overlaid {
  readonly pod: Pod;
  readonly templatePod: Pod;
}

/** How to place a proxy container that the pod already has. */
export interface Placing {
  /** The proxy becomes a native sidecar. */
  readonly native: boolean;
  /** The pod's proxy comes from an earlier injection. */
  readonly reinjected: boolean;
}

/** Merges rendered templates into a pod in turn, as strategic merge patches. */
export function overlay(pod: Pod, patches: readonly ValueMap[], placing: Placing): Overlaid {
  return patches.reduce<Overlaid>((result, patch) => {
    const templatePod = mergePod(result.templatePod, patch);
    const base = moveProxy(result.pod, templatePod, placing);
    return { pod: mergePod(base, patch), templatePod };
  }, { pod, templatePod: newMap() });
}

/** Applies a part of a pod as a strategic merge patch. Throws an InjectionError if the patch cannot be merged. */
export function mergePod(pod: Pod, patch: Pod): Pod {
  try {
    return strategicMerge(pod, patch, "Pod");
  } catch (error) {
    if (!(error instanceof PatchError)) throw error;
    throw new InjectionError("invalid-result", `The templates cannot be merged into the pod: ${error.message}`, {
      cause: error,
    });
  }
}

/** Moves the pod's existing proxy to the list that the template uses for it: containers or init containers. */
function moveProxy(pod: Pod, templatePod: Pod, { native, reinjected }: Placing): Pod {
  const inMain = containerNamed(containersOf(pod, "containers"), PROXY);
  const inInit = containerNamed(containersOf(pod, "initContainers"), PROXY);
  const wantedInit = containerNamed(containersOf(templatePod, "initContainers"), PROXY) !== undefined;
  const wantedMain = containerNamed(containersOf(templatePod, "containers"), PROXY) !== undefined;
  if (native && wantedInit && inMain !== undefined) return moved(pod, "containers", "initContainers", inMain);
  if (reinjected && wantedMain && inInit !== undefined && inMain === undefined) {
    return moved(pod, "initContainers", "containers", notNative(inInit));
  }
  return pod;
}

function moved(pod: Pod, from: ContainerList, to: ContainerList, proxy: ValueMap): Pod {
  const left = containersOf(pod, from).filter((container) => container["name"] !== PROXY);
  const bare = withSpecKey(pod, from, left.length === 0 && from === "initContainers" ? undefined : left);
  return withSpecKey(bare, to, [...containersOf(pod, to), proxy]);
}

/** Reduces a native sidecar to its name and the agent's settings. The template provides all other fields. */
function notNative(proxy: ValueMap): ValueMap {
  const noted = mapsAt(proxy, "env").filter((item) => [PROBERS_ENV, PROMETHEUS_ENV].includes(textAt(item, "name")));
  const bare = withKey(newMap(), "name", PROXY);
  return noted.length === 0 ? bare : withKey(bare, "env", [...noted]);
}

/** Removes empty lists that come from a template. */
export function withoutEmptyLists(pod: Pod, before: Pod): Pod {
  const had = specOf(before);
  const added = Object.entries(specOf(pod)).filter(([key, value]) =>
    Array.isArray(value) && value.length === 0 && had[key] === undefined
  );
  return added.reduce((result, [key]) => withSpecKey(result, key, undefined), pod);
}
