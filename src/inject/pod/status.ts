/** The annotation `sidecar.istio.io/status`: what injection put into a pod, so that it can be found again. */
import { goJson, OrderedFields } from "../../core/gojson.ts";
import { isList, isMap, mapsAt, textAt, type Value } from "../../core/value.ts";
import { STATUS } from "../names.ts";
import { annotation, containersOf, type Pod, specOf } from "./pod.ts";

/** Names of what was injected. */
export interface InjectionStatus {
  readonly initContainers: readonly string[];
  readonly containers: readonly string[];
  readonly volumes: readonly string[];
  readonly imagePullSecrets: readonly string[];
}

/** What the status annotation of a pod lists; `undefined` if the pod has none or it is not a JSON object. */
export function readStatus(pod: Pod): InjectionStatus | undefined {
  const status = parseObject(annotation(pod, STATUS));
  if (status === undefined) return undefined;
  return {
    initContainers: names(status, "initContainers"),
    containers: names(status, "containers"),
    volumes: names(status, "volumes"),
    imagePullSecrets: names(status, "imagePullSecrets"),
  };
}

/** A JSON object in an annotation; `undefined` if there is none. */
export function parseObject(text: string | undefined): Record<string, unknown> | undefined {
  if (text === undefined) return undefined;
  try {
    const value: unknown = JSON.parse(text);
    return isMap(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

function names(status: Record<string, unknown>, key: string): readonly string[] {
  const list = status[key];
  return isList(list) ? list.filter((name: Value) => typeof name === "string") : [];
}

/** The status annotation for what templates contain, in their order; a list that is empty is `null`. */
export function statusText(templatePod: Pod, revision: string): string {
  const spec = specOf(templatePod);
  return goJson(
    new OrderedFields([
      ["initContainers", namesOf(containersOf(templatePod, "initContainers"))],
      ["containers", namesOf(containersOf(templatePod, "containers"))],
      ["volumes", namesOf(mapsAt(spec, "volumes"))],
      ["imagePullSecrets", namesOf(mapsAt(spec, "imagePullSecrets"))],
      ["revision", revision === "" ? "default" : revision],
    ]),
  );
}

function namesOf(list: ReturnType<typeof mapsAt>): readonly string[] | null {
  return list.length === 0 ? null : list.map((item) => textAt(item, "name"));
}
