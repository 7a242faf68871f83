/**
 * Container overrides. A user can write a container with the name of a template's container. The user's container is merged
 * over the rendered one. An annotation keeps the user's container, because the merge cannot be reversed.
 */
import { messageOf } from "../../base/errors.ts";
import { InjectionError } from "../injection_error.ts";
import { goJsonParse } from "../../golang/go_json.ts";
import { decode, toGoJson } from "../../kube/mod.ts";
import { ANNOTATION } from "../../istio/mod.ts";
import { isList, isMap, mapsAt, newMap, textAt, type Value, type ValueMap } from "../../base/value.ts";
import { plain } from "../render/functions/plain.ts";
import { mergePod } from "./overlay.ts";
import { withAnnotations, withKey, withSpecKey } from "../pod/change.ts";
import {
  annotation,
  annotationsOf,
  type ContainerList,
  containerNamed,
  containersOf,
  findProxy,
  type Pod,
  PROXY,
} from "../pod/pod.ts";
import type { InjectionStatus } from "../pod/status.ts";

/** The user's containers, grouped by the list in which the template has the container of the same name. */
export type Overrides = Readonly<Record<ContainerList, readonly ValueMap[]>>;

/** A placeholder, because the API server requires an image. It does not override the template's image. */
const AUTO_IMAGE = "auto";

const NONE: Overrides = { containers: [], initContainers: [] };
const LISTS = ["containers", "initContainers"] as const;

/** Reads the overrides from the annotation of an earlier injection. Throws a MeshError if the annotation is invalid. */
export function keptOverrides(pod: Pod): Overrides {
  const text = annotation(pod, ANNOTATION.overrides);
  if (text === undefined) return NONE;
  const value = parse(text);
  return {
    containers: mapsAt(value, "containers").map(withoutEmptyResources),
    initContainers: mapsAt(value, "initContainers").map(withoutEmptyResources),
  };
}

/**
 * Whether the user wrote the overriding containers before other containers. Injection records this by writing the status
 * annotation before the overrides annotation. istioctl and API servers sort annotations, so they never write this order.
 */
export function keptFirst(pod: Pod): boolean {
  const names = Object.keys(annotationsOf(pod));
  const status = names.indexOf(ANNOTATION.status);
  return status >= 0 && status < names.indexOf(ANNOTATION.overrides);
}

/** Removes empty `resources`, which the JSON of a container always contains. */
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
  if (!isMap(value)) throw notJson("not a JSON object");
  for (const list of LISTS) if (!isList(value[list] ?? [])) throw notJson(`"${list}" is not a list`);
  return value;
}

function notJson(why: string): InjectionError {
  const message = `The annotation "${ANNOTATION.overrides}" is invalid: ${why}`;
  return new InjectionError("invalid-annotation", message, {
    place: { field: `metadata.annotations["${ANNOTATION.overrides}"]` },
    hint: "remove this annotation, which injection writes, and add the container to the pod again",
  });
}

export interface OverrideSource {
  readonly original: Pod;
  readonly status: InjectionStatus | undefined;
  readonly kept: Overrides;
}

/**
 * Finds the user's override of a template's container in `list`: in the annotation, or in the pod's containers
 * if no earlier injection added the container.
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
  // The annotation contains decoded containers. Decode here too, so that re-injection merges the same override.
  return written === undefined ? undefined : withoutEmptyResources(decode(written, "Container").value);
}

/** The user's own proxy container; `undefined` if the user did not write one. */
export function userProxy(source: OverrideSource): ValueMap | undefined {
  if (source.status === undefined) return findProxy(source.original);
  return overrideFor(PROXY, "containers", source);
}

/** Merges the user's containers over the templates' containers. A first injection also writes the overrides annotation. */
export function applyOverrides(pod: Pod, templatePod: Pod, source: OverrideSource): Pod {
  const applied = {
    containers: overlays(templatePod, "containers", source),
    initContainers: overlays(templatePod, "initContainers", source),
  };
  let result = pod;
  for (const list of LISTS) {
    for (const container of applied[list]) result = mergePod(result, withSpecKey(newMap(), list, [container]));
  }
  const text = overridesText(applied);
  if (source.status !== undefined || text === "{}") return result;
  const [first, ...others] = containersOf(source.original, "containers");
  const isFirst = others.length > 0 &&
    [...applied.containers, ...applied.initContainers].some(({ name }) => name === first?.["name"]);
  const status = isFirst ? { [ANNOTATION.status]: "" } : {};
  return withAnnotations(result, { ...status, [ANNOTATION.overrides]: text });
}

function overlays(templatePod: Pod, list: ContainerList, source: OverrideSource): readonly ValueMap[] {
  return containersOf(templatePod, list)
    .map((container) => overrideFor(textAt(container, "name"), list, source))
    .filter((override) => override !== undefined)
    .map((override) => override["image"] === AUTO_IMAGE ? withKey(override, "image", undefined) : override);
}

/**
 * Formats the overrides annotation as Istio does: `{"containers":[...],"initContainers":[...]}`, without empty lists.
 */
function overridesText(overrides: Overrides): string {
  const texts = LISTS.filter((list) => overrides[list].length > 0).map((list) => {
    const containers = overrides[list].map((container) => toGoJson(decode(container, "Container").value, "Container"));
    return `"${list}":[${containers.join(",")}]`;
  });
  return `{${texts.join(",")}}`;
}
