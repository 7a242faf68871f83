/** Removes the containers, volumes and pull secrets that the templates added. */
import { mapsAt, textAt, type Value, type ValueMap } from "../../base/value.ts";
import { isInit } from "../merge/strip.ts";
import { withKey, withSpecKey } from "../pod/change.ts";
import {
  allContainers,
  type ContainerList,
  containerNamed,
  containersOf,
  type Pod,
  PROXY,
  specOf,
} from "../pod/pod.ts";
import { type Doubt, type Evidence, isAdded, TAKEN_OUT } from "./evidence.ts";
import { defaultName } from "../pod/kinds.ts";

/** Removes injected containers, and restores the user's own containers of the same names. */
export function containers(pod: Pod, evidence: Evidence): Pod {
  const wanted = keptByList(pod, evidence);
  const lists: readonly ContainerList[] = ["initContainers", "containers"];
  return lists.reduce((result, list) => withList(result, list, inList(pod, list, wanted[list], evidence)), pod);
}

function inList(pod: Pod, list: ContainerList, kept: readonly ValueMap[], evidence: Evidence): readonly ValueMap[] {
  const inPlace = containersOf(pod, list).flatMap((container) => {
    if (!isAdded(evidence, list, container)) return [container];
    const own = containerNamed(kept, textAt(container, "name"));
    return own === undefined ? [] : [own];
  });
  const first = list === "containers" && evidence.keptFirst ? kept : [];
  const placed = new Set(inPlace);
  return [
    ...first,
    ...inPlace.filter((container) => !first.includes(container)),
    ...kept.filter((container) => !placed.has(container) && !first.includes(container)),
  ];
}

/** Returns the user's overriding containers, grouped by the list in which the user wrote each one. */
function keptByList(pod: Pod, evidence: Evidence): Readonly<Record<ContainerList, readonly ValueMap[]>> {
  const { kept, proxy } = evidence;
  const own = (container: ValueMap) => hadImage(container, proxy) ? withKey(container, "image", "auto") : container;
  // Skip overrides whose container is still in `containers`.
  const others = containersOf(pod, "containers").filter((container) => !isAdded(evidence, "containers", container));
  const inits = kept.initContainers.map(own).filter(({ name }) =>
    !others.some((container) => container["name"] === name)
  );
  return {
    initContainers: inits.filter(isInit),
    containers: [...kept.containers.map(own), ...inits.filter((container) => !isInit(container))],
  };
}

/**
 * Whether the user's proxy container had the image "auto". Injection drops this image, but the key order of the injected
 * proxy shows who wrote `image`. If the user did, it is among the first two keys or precedes another of the user's keys.
 * If the template did, it comes last.
 */
function hadImage(container: ValueMap, proxy: ValueMap | undefined): boolean {
  if (container["name"] !== PROXY || container["image"] !== undefined) return false;
  const keys = Object.keys(proxy ?? {});
  const at = keys.indexOf("image");
  return at < 2 || keys.slice(at + 1).some((key) => key in container);
}

/** Removes the names that injection gave to nameless containers. Such a name is the container's last key. */
export function defaultNames(pod: Pod, { containerName }: Evidence): Pod {
  const before = containersOf(pod, "containers");
  if (containerName === undefined) return pod;
  const after = before.map((container, index) => {
    const isDefault = container["name"] === defaultName(containerName, index, before.length);
    const isAppended = Object.keys(container).indexOf("name") > 0 && Object.keys(container).at(-1) === "name";
    return isDefault && isAppended ? withKey(container, "name", undefined) : container;
  });
  return withList(pod, "containers", after);
}

/** Removes the injected volumes that no remaining container mounts. */
export function volumes(pod: Pod, { added }: Evidence, doubts: Doubt[]): Pod {
  const mounted = new Map(
    allContainers(pod).flatMap((container) =>
      mapsAt(container, "volumeMounts").map((mount) => [textAt(mount, "name"), textAt(container, "name")] as const)
    ),
  );
  const left = mapsAt(specOf(pod), "volumes").filter((volume) => {
    const name = textAt(volume, "name");
    const user = mounted.get(name);
    if (!added.volumes.includes(name)) return true;
    if (user === undefined) return false;
    doubts.push({
      field: "spec.volumes",
      message: `the volume "${name}" stays, because the container "${user}" mounts it`,
    });
    return true;
  });
  return withList(pod, "volumes", left);
}

/** Removes injected pull secrets. Adds a doubt, because the pod may have listed the same secret before injection. */
export function pullSecrets(pod: Pod, { added }: Evidence, doubts: Doubt[]): Pod {
  const before = mapsAt(specOf(pod), "imagePullSecrets");
  const left = before.filter((secret) => !added.imagePullSecrets.includes(textAt(secret, "name")));
  const out = before.filter((secret) => !left.includes(secret)).map((secret) => `"${textAt(secret, "name")}"`);
  if (out.length > 0) doubts.push({ field: "spec.imagePullSecrets", message: `${out.join(", ")} ${TAKEN_OUT}` });
  return withList(pod, "imagePullSecrets", left);
}

function withList(pod: Pod, key: string, left: readonly Value[]): Pod {
  const before = mapsAt(specOf(pod), key);
  if (left.length === before.length && left.every((item, index) => item === before[index])) return pod;
  return withSpecKey(pod, key, left.length === 0 ? undefined : [...left]);
}
