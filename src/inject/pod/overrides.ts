/**
 * What a user says about a container that the templates bring: it is written in the pod under that container's name,
 * laid over the rendered container, and kept in an annotation, because after injection the two can no longer be told
 * apart.
 */
import { messageOf } from "../../core/errors.ts";
import { InjectionError } from "../injection_error.ts";
import { goJsonParse } from "../../core/gojson.ts";
import { decode, toGoJson } from "../../core/kube/mod.ts";
import { ANNOTATION } from "../../core/mesh/mod.ts";
import { isList, isMap, mapsAt, newMap, textAt, type Value, type ValueMap } from "../../core/value.ts";
import { plain } from "../functions/plain.ts";
import { mergePod } from "./overlay.ts";
import {
  annotation,
  type ContainerList,
  containerNamed,
  containersOf,
  findProxy,
  type Pod,
  PROXY,
  withAnnotations,
  withKey,
} from "./pod.ts";
import type { InjectionStatus } from "./status.ts";

/** Containers as the user wrote them, by the list that the template has them in. */
export type Overrides = Readonly<Record<ContainerList, readonly ValueMap[]>>;

/** An image with this name is no override: it only makes the API server accept the container. */
const AUTO_IMAGE = "auto";

const NONE: Overrides = { containers: [], initContainers: [] };

/** The overrides that an earlier injection kept. Errors: a MeshError if the annotation is not JSON. */
export function keptOverrides(pod: Pod): Overrides {
  const text = annotation(pod, ANNOTATION.overrides);
  if (text === undefined) return NONE;
  const value = parse(text);
  return {
    containers: mapsAt(value, "containers").map(withoutEmptyResources),
    initContainers: mapsAt(value, "initContainers").map(withoutEmptyResources),
  };
}

/** JSON of a container always has `resources`, also where the user wrote none. */
function withoutEmptyResources(container: ValueMap): ValueMap {
  const { resources } = container;
  return isMap(resources) && Object.keys(resources).length === 0
    ? withKey(container, "resources", undefined)
    : container;
}

function parse(text: string): ValueMap {
  let value: Value;
  try {
    value = plain(goJsonParse(text)) ?? newMap();
  } catch (error) {
    throw notJson(messageOf(error));
  }
  if (!isMap(value)) throw notJson("it is not an object");
  const wrong = ["containers", "initContainers"].find((list) => !isList(value[list] ?? []));
  if (wrong !== undefined) throw notJson(`"${wrong}" is not a list`);
  return value;
}

function notJson(why: string): InjectionError {
  return new InjectionError(
    "invalid-annotation",
    `The annotation "${ANNOTATION.overrides}" is not JSON with containers: ${why}`,
    {
      place: { field: `metadata.annotations["${ANNOTATION.overrides}"]` },
      hint: "It is written by injection: take it out and write the container into the pod again",
    },
  );
}

/** What of a pod the overrides come from. */
export interface OverrideSource {
  readonly original: Pod;
  readonly status: InjectionStatus | undefined;
  readonly kept: Overrides;
}

/**
 * What the user wrote about a container that a template has in `list`: what was kept, else the pod's own container of
 * that name, unless an earlier injection made that one. `undefined` if nothing.
 */
export function overrideFor(name: string, list: ContainerList, source: OverrideSource): ValueMap | undefined {
  const { original, status, kept } = source;
  const found = containerNamed(kept[list], name);
  if (status !== undefined && [...status.containers, ...status.initContainers].includes(name)) {
    return found ?? containerNamed(kept[list === "containers" ? "initContainers" : "containers"], name);
  }
  if (found !== undefined) return found;
  const own = containerNamed(containersOf(original, "containers"), name);
  const written = own ?? (list === "initContainers" ? containerNamed(containersOf(original, list), name) : undefined);
  // As it will be read back from the annotation, so that another injection lays the same over the template.
  return written === undefined ? undefined : withoutEmptyResources(decode(written, "Container").value);
}

/** The proxy container as the user wrote it, `undefined` if there is none or only an injected one. */
export function userProxy(source: OverrideSource): ValueMap | undefined {
  if (source.status === undefined) return findProxy(source.original);
  return overrideFor(PROXY, "containers", source);
}

/** Lays the user's containers over those of the templates, and keeps them in the annotation on a first injection. */
export function applyOverrides(pod: Pod, templatePod: Pod, source: OverrideSource): Pod {
  const applied = {
    containers: overlays(templatePod, "containers", source),
    initContainers: overlays(templatePod, "initContainers", source),
  };
  let result = pod;
  for (const overlay of applied.containers) result = overlayContainer(result, "containers", overlay);
  for (const overlay of applied.initContainers) result = overlayContainer(result, "initContainers", overlay);
  const text = overridesText(applied);
  if (source.status !== undefined || text === "{}") return result;
  return withAnnotations(result, { [ANNOTATION.overrides]: text });
}

function overlays(templatePod: Pod, list: ContainerList, source: OverrideSource): readonly ValueMap[] {
  return containersOf(templatePod, list)
    .map((container) => overrideFor(textAt(container, "name"), list, source))
    .filter((override) => override !== undefined)
    .map((override) => override["image"] === AUTO_IMAGE ? withKey(override, "image", undefined) : override);
}

function overlayContainer(pod: Pod, list: ContainerList, container: ValueMap): Pod {
  const spec = newMap();
  spec[list] = [container];
  const patch = newMap();
  patch["spec"] = spec;
  return mergePod(pod, patch);
}

/** `{"containers":[...],"initContainers":[...]}`, each list only if it has something, containers as Go writes them. */
function overridesText(overrides: Overrides): string {
  const lists = (["containers", "initContainers"] as const).filter((list) => overrides[list].length > 0);
  const texts = lists.map((list) => {
    const containers = overrides[list].map((container) => toGoJson(decode(container, "Container").value, "Container"));
    return `"${list}":[${containers.join(",")}]`;
  });
  return `{${texts.join(",")}}`;
}
