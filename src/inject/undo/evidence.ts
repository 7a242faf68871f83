/** Detects whether a pod is injected, by its status annotation or by the names in Istio's templates. */
import { ANNOTATION, LABEL } from "../../istio/mod.ts";
import { mapAt, mapsAt, textAt, textsAt, type ValueMap } from "../../base/value.ts";
import type { Owner } from "../pod/workload.ts";
import { keptFirst, keptOverrides, type Overrides } from "../merge/overrides.ts";
import {
  annotation,
  type ContainerList,
  containerNamed,
  containersOf,
  envValue,
  findProxy,
  metadataOf,
  type Pod,
  PROXY,
  specOf,
  TEMPLATE_CONTAINERS,
} from "../pod/pod.ts";
import { type InjectionStatus, parseObject, readStatus } from "../pod/status.ts";

export interface Evidence {
  readonly added: InjectionStatus;
  readonly kept: Overrides;
  /** The user wrote the containers in `kept` before the other containers. */
  readonly keptFirst: boolean;
  /** The injected proxy; `undefined` if the templates do not add a proxy. */
  readonly proxy: ValueMap | undefined;
  /** The revision in the status annotation; `undefined` for releases up to 1.8. */
  readonly revision: string | undefined;
  readonly hasStatus: boolean;
  readonly owner: Owner;
  /** Name that the workload's kind gives to nameless containers. */
  readonly containerName: string | undefined;
}

/** Names of the items that Istio's templates have added since 1.0. */
const NAMES: InjectionStatus = {
  initContainers: TEMPLATE_CONTAINERS,
  containers: [PROXY],
  volumes: [
    "custom-bootstrap-volume",
    "credential-socket",
    "istio-ca-crl",
    "istio-certs",
    "istio-data",
    "istio-envoy",
    "istio-podinfo",
    "istio-token",
    "istiod-ca-cert",
    "lightstep-certs",
    "sds-uds-path",
    "sdsudspath",
    "workload-certs",
    "workload-socket",
  ],
  imagePullSecrets: [],
};

/**
 * Returns the facts about a pod's injection; `undefined` if the pod is not injected. Without a readable status annotation, a
 * container with the name and arguments of Istio's proxy is sufficient evidence.
 * Throws an InjectionError if the overrides annotation is not valid JSON.
 */
export function evidenceOf(pod: Pod, owner: Owner, containerName?: string): Evidence | undefined {
  const status = readStatus(pod);
  const added = status ?? namesIn(pod);
  if (status === undefined && !hasSidecar(pod, added)) return undefined;
  const isAdded = [...added.containers, ...added.initContainers].includes(PROXY);
  const { revision } = parseObject(annotation(pod, ANNOTATION.status)) ?? {};
  return {
    added,
    kept: keptOverrides(pod),
    keptFirst: keptFirst(pod),
    proxy: isAdded ? findProxy(pod) : undefined,
    revision: typeof revision === "string" ? revision : undefined,
    hasStatus: status !== undefined,
    owner,
    containerName,
  };
}

/**
 * Whether the pod has a sidecar next to an application. Returns false for a gateway that the user wrote, because its proxy
 * is the application. Returns false for a proxy override before injection, because the agent's arguments are missing.
 */
function hasSidecar(pod: Pod, added: InjectionStatus): boolean {
  const [first, second] = textsAt(findProxy(pod) ?? {}, "args");
  return first === "proxy" && second === "sidecar" &&
    containersOf(pod, "containers").some((container) => !added.containers.includes(textAt(container, "name")));
}

function namesIn(pod: Pod): InjectionStatus {
  const spec = specOf(pod);
  const present = (list: keyof InjectionStatus) =>
    NAMES[list].filter((name) => containerNamed(mapsAt(spec, list), name) !== undefined);
  return {
    initContainers: present("initContainers"),
    containers: present("containers"),
    volumes: present("volumes"),
    imagePullSecrets: [],
  };
}

/** The value of an environment variable of the injected proxy; `""` if it is not set. */
export function proxyVariable({ proxy }: Evidence, name: string): string {
  return proxy === undefined ? "" : envValue(proxy, name) ?? "";
}

export function isAdded({ added }: Evidence, list: ContainerList, container: ValueMap): boolean {
  return added[list].includes(textAt(container, "name"));
}

/** Returns the names of the application containers, including those that the overrides annotation keeps. */
export function applicationOf(pod: Pod, evidence: Evidence): readonly string[] {
  const kept = evidence.kept.containers.map((container) => textAt(container, "name"));
  return containersOf(pod, "containers").filter((container) => !isAdded(evidence, "containers", container))
    .map((container) => textAt(container, "name"))
    .concat(kept)
    .filter((name) => name !== PROXY);
}

/** A field whose value before injection is unknown. `field` is a path in the pod. */
export interface Doubt {
  readonly field: string;
  readonly message: string;
}

/** Messages about a field that the user may have set. */
export const STAYS = "stays, because the pod may have had it before injection, or the values may set it";
export const TAKEN_OUT = "removed; add it again if the pod had it before injection";

/** The first label and the first annotation that only injection writes. */
const FIRST = { labels: LABEL.tlsMode, annotations: ANNOTATION.revision } as const;

/**
 * Whether a label or annotation was certainly in the pod before injection. Injection appends its entries, so the user's
 * entries precede them. But istioctl and API servers sort all entries by name. So an entry counts only if it precedes an
 * injected entry that sorts before it.
 */
export function isOlder(pod: Pod, map: keyof typeof FIRST, name: string): boolean {
  const names = Object.keys(mapAt(metadataOf(pod), map));
  const at = names.indexOf(name);
  const first = FIRST[map];
  return at >= 0 && at < names.indexOf(first) && name > first;
}
