/** The annotation `sidecar.istio.io/status`: the names of what injection added to a pod. */
import { parseJson } from "../../base/json.ts";
import { goJson, OrderedFields } from "../../golang/gojson/mod.ts";
import { ANNOTATION } from "../../istio/mod.ts";
import { isMap, mapsAt, textAt, textsAt, type ValueMap } from "../../base/value.ts";
import { annotation, type Pod, specOf } from "./pod.ts";

/** The lists of a pod that injection adds to, in the order of the annotation. */
export const INJECTED_LISTS = ["initContainers", "containers", "volumes", "imagePullSecrets"] as const;

/** The names of what was injected, by list. */
export type InjectionStatus = Readonly<Record<typeof INJECTED_LISTS[number], readonly string[]>>;

/** A pod's status annotation; `undefined` if it is missing or not a JSON object. */
export function readStatus(pod: Pod): InjectionStatus | undefined {
  const status = parseObject(annotation(pod, ANNOTATION.status));
  if (status === undefined) return undefined;
  return {
    initContainers: textsAt(status, "initContainers"),
    containers: textsAt(status, "containers"),
    volumes: textsAt(status, "volumes"),
    imagePullSecrets: textsAt(status, "imagePullSecrets"),
  };
}

/** A JSON object in an annotation; `undefined` for any other text. */
export function parseObject(text: string | undefined): ValueMap | undefined {
  const value = text === undefined ? undefined : parseJson(text);
  return isMap(value) ? value : undefined;
}

let latest = { key: "", text: "" };

/**
 * The status annotation for the content of templates; `undefined` for the revision: without one, as before 1.11. The latest
 * one is kept: most pods get the same.
 */
export function statusText(templatePod: Pod, revision: string | undefined): string {
  const spec = specOf(templatePod);
  const lists = listedNames((list) => mapsAt(spec, list));
  const key = JSON.stringify([lists, revision]);
  if (key !== latest.key) {
    const named = revision === undefined ? [] : [["revision", revision === "" ? "default" : revision] as const];
    latest = { key, text: goJson(new OrderedFields([...lists, ...named])) };
  }
  return latest.text;
}

/** The lists of a status annotation with their names; an empty list is `null`. */
export function listedNames(items: (list: keyof InjectionStatus) => readonly ValueMap[]) {
  return INJECTED_LISTS.map((list) => {
    const names = items(list).map((item) => textAt(item, "name"));
    return [list, names.length === 0 ? null : names] as const;
  });
}
