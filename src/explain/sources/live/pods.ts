/** Selects pods by name, by workload or service, or by labels. */
import { apiPath } from "../../../kube/api_path.ts";
import { MeshError } from "../../../base/errors.ts";
import {
  isPod,
  type KubeApi,
  type KubeObject,
  type LabelSelector,
  ofKind,
  type Pod,
  readWorkloadName,
  type Resource,
} from "../../../kube/client/mod.ts";
import { isMap, mapAt, mapsAt, textAt, textsAt, type ValueMap } from "../../../base/value.ts";
import { isAmbient } from "../../pod.ts";
import type { PodChoice } from "../../question/question.ts";

type Listing = Pick<KubeApi, "list">;

export const PROXY_CONTAINER = "istio-proxy";

interface ChosenPods {
  readonly pods: readonly Pod[];
  /** Message for standard error about the chosen pod; `undefined` if there was no choice. */
  readonly note: string | undefined;
}

/** Kinds that select pods but are not workloads. */
const SERVICES: readonly Resource[] = [{ kind: "Service", group: "api/v1", names: ["services", "service", "svc"] }];

/**
 * Returns the chosen pods. For a choice by labels, returns only pods with a proxy. For a workload, returns one of its
 * pods, preferably a ready pod, because a ready pod has the most information. Throws an ApiError, or a MeshError if
 * there is no such pod.
 */
export async function choosePods(
  api: Pick<KubeApi, "get" | "list">,
  choice: PodChoice,
  contextNamespace = "default",
): Promise<ChosenPods> {
  const { namespace = contextNamespace, container = PROXY_CONTAINER } = choice;
  if (choice.name === undefined) return await podsByLabels(api, choice, namespace);
  const name = choice.name.includes("/") ? choice.name : `pod/${choice.name}`;
  const { path, kind } = readWorkloadName(name, SERVICES);
  const object = await api.get(path(namespace));
  if (object === undefined) {
    throw new MeshError(`"${name}" does not exist in the namespace "${namespace}"`, { hint: "see --namespace" });
  }
  if (kind === "Pod") return { pods: [podOf({ ...object, kind })], note: undefined };
  const selector = selectorOf(object, kind);
  if (selector === "") {
    throw new MeshError(`"${name}" in the namespace "${namespace}" selects no pods`, {
      hint: "pass a pod as pod/NAME, or labels with -l",
    });
  }
  const pods = await listPods(api, namespace, selector);
  const [pod] = pods.toSorted(byUse(container));
  if (pod === undefined) throw new MeshError(`"${name}" in the namespace "${namespace}" has no pods`);
  const others = pods.length === 1 ? "" : ` (1 of ${pods.length})`;
  return { pods: [pod], note: `Pod "${namespace}/${pod.metadata.name}" of ${name}${others}` };
}

async function podsByLabels(api: Listing, choice: PodChoice, namespace: string): Promise<ChosenPods> {
  const { container = PROXY_CONTAINER } = choice;
  const all = await listPods(api, choice.allNamespaces ? undefined : namespace, choice.selector ?? "");
  const isOfMesh = (pod: Pod) => hasContainer(pod, container) || isAmbient(pod.metadata);
  const running = all.filter((pod) => !isOver(pod));
  const pods = running.filter(isOfMesh);
  if (pods.length > 0) return { pods, note: outsideNote(running.filter((pod) => !isOfMesh(pod))) };
  const where = choice.allNamespaces ? "any namespace" : `the namespace "${namespace}"`;
  const labels = choice.selector === undefined ? "" : ` with the labels "${choice.selector}"`;
  throw new MeshError(
    all.length === 0
      ? `No pod${labels} exists in ${where}`
      : `None of the ${all.length} pods${labels} in ${where} has a container "${container}"`,
    { hint: all.length === 0 ? emptyHint(choice) : '"kubectl mesh check injection" shows why pods are not injected' },
  );
}

/** Maximum number of left-out pods to name. */
const NAMED = 3;

function outsideNote(pods: readonly Pod[]): string | undefined {
  if (pods.length === 0) return undefined;
  const names = pods.slice(0, NAMED).map(({ metadata: { name, namespace } }) => `${namespace}/${name}`).join(", ");
  const more = pods.length > NAMED ? ` and ${pods.length - NAMED} more` : "";
  const why = pods.length === 1 ? "it has no proxy" : "they have no proxy";
  return `note: Left out, because ${why}: ${names}${more}; "kubectl mesh check injection" shows why`;
}

/** A cluster without any pod is probably the wrong cluster. */
function emptyHint({ allNamespaces, selector }: PodChoice): string {
  if (!allNamespaces) return "see --namespace";
  return selector === undefined ? "see --context" : "see --selector";
}

async function listPods(api: Listing, namespace: string | undefined, labelSelector: string): Promise<readonly Pod[]> {
  const path = apiPath("api/v1", "pods", namespace);
  const { items } = await api.list(path, labelSelector === "" ? {} : { labelSelector });
  return items.filter(isPod);
}

function podOf(object: KubeObject): Pod {
  const pod = ofKind(object, isPod);
  if (pod === undefined) throw new MeshError("The response of the API server is not a pod");
  return pod;
}

/** Returns the selector of a workload as text. The field that contains the selector depends on the kind. */
function selectorOf(object: KubeObject, kind: string): string {
  const selector = mapAt(mapAt(object, "spec"), "selector");
  return kind === "Service" || kind === "ReplicationController" ? equalities(selector) : selectorText(selector);
}

function equalities(labels: ValueMap): string {
  const texts = Object.entries(labels).filter(([, value]) => typeof value === "string");
  return texts.map(([key, value]) => `${key}=${value}`).join(",");
}

/** Returns a label selector as text, in the format of `kubectl get -l`. */
export function selectorText(selector: LabelSelector | ValueMap): string {
  if (!isMap(selector)) return "";
  const expressions = mapsAt(selector, "matchExpressions").map((each) => {
    const [key, values] = [textAt(each, "key"), textsAt(each, "values").join(",")];
    switch (textAt(each, "operator")) {
      case "In":
        return `${key} in (${values})`;
      case "NotIn":
        return `${key} notin (${values})`;
      case "DoesNotExist":
        return `!${key}`;
      default:
        return key;
    }
  });
  return [equalities(mapAt(selector, "matchLabels")), ...expressions].filter((text) => text !== "").join(",");
}

/** Compares pods, to sort pods with a proxy first, then ready, running and other pods. */
function byUse(container: string): (a: Pod, b: Pod) => number {
  const use = (pod: Pod) => usefulness(pod) + (hasContainer(pod, container) ? 10 : 0);
  return (a, b) => use(b) - use(a) || a.metadata.name.localeCompare(b.metadata.name);
}

function usefulness(pod: Pod): number {
  if (pod.metadata.deletionTimestamp !== undefined || isOver(pod)) return 0;
  const isReady = pod.status?.conditions?.some(({ type, status }) => type === "Ready" && status === "True") ?? false;
  return isReady ? 3 : pod.status?.phase === "Running" ? 2 : 1;
}

function isOver(pod: Pod): boolean {
  return pod.status?.phase === "Succeeded" || pod.status?.phase === "Failed";
}

/** Returns the container, or init container, with this name. */
export function containerOf({ spec }: Pod, wanted: string) {
  return [...spec?.containers ?? [], ...spec?.initContainers ?? []].find(({ name }) => name === wanted);
}

export function hasContainer(pod: Pod, wanted: string): boolean {
  return containerOf(pod, wanted) !== undefined;
}

export function imageOf(pod: Pod, wanted: string): string | undefined {
  return containerOf(pod, wanted)?.image;
}
