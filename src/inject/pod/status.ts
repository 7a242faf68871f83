/** The annotation `sidecar.istio.io/status`. It lists the names of the items that injection added to a pod. */
import { parseJson } from "../../base/json.ts";
import { goJson, OrderedFields } from "../../golang/go_json.ts";
import { ANNOTATION } from "../../istio/mod.ts";
import { isMap, mapsAt, textAt, textsAt, type ValueMap } from "../../base/value.ts";
import { annotation, type Pod, specOf } from "./pod.ts";

/** The lists of a pod's spec to which injection adds items, in the order of the annotation. */
export const INJECTED_LISTS = ["initContainers", "containers", "volumes", "imagePullSecrets"] as const;

export type InjectionStatus = Readonly<Record<typeof INJECTED_LISTS[number], readonly string[]>>;

/** Parses a pod's status annotation; `undefined` if it is missing or not a JSON object. */
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

/** Parses a JSON object; `undefined` if the text is not a JSON object. */
export function parseObject(text: string | undefined): ValueMap | undefined {
  const value = text === undefined ? undefined : parseJson(text);
  return isMap(value) ? value : undefined;
}

let latest = { key: "", text: "" };

/**
 * Formats the status annotation for the items of the templates. If `revision` is `undefined`, the annotation has no revision,
 * as before Istio 1.11. The latest result is cached, because most pods get the same annotation.
 */
export function statusText(templatePod: Pod, revision: string | undefined): string {
  const lists = listedNames((list) => mapsAt(specOf(templatePod), list));
  const key = JSON.stringify([lists, revision]);
  if (key !== latest.key) {
    const named = revision === undefined ? [] : [["revision", revision === "" ? "default" : revision] as const];
    latest = { key, text: goJson(new OrderedFields([...lists, ...named])) };
  }
  return latest.text;
}

/** The fields of a status annotation: each list with the names of its items. An empty list is `null`. */
export function listedNames(items: (list: keyof InjectionStatus) => readonly ValueMap[]) {
  return INJECTED_LISTS.map((list) => {
    const names = items(list).map((item) => textAt(item, "name"));
    return [list, names.length === 0 ? null : names] as const;
  });
}
