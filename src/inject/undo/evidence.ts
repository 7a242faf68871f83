/** The evidence of an injection in a pod: its status annotation, or names and shapes of Istio's templates. */
import { ANNOTATION } from "../../istio/mod.ts";
import { mapsAt, textAt, textsAt, type ValueMap } from "../../base/value.ts";
import type { Owner } from "../pod/workload.ts";
import { keptFirst, keptOverrides, type Overrides } from "../merge/overrides.ts";
import {
  annotation,
  type ContainerList,
  containerNamed,
  containersOf,
  envValue,
  findProxy,
  type Pod,
  PROXY,
  specOf,
  TEMPLATE_CONTAINERS,
} from "../pod/pod.ts";
import { type InjectionStatus, parseObject, readStatus } from "../pod/status.ts";

/** An injection of a pod. */
export interface Evidence {
  /** The names of what the templates added, by list. */
  readonly added: InjectionStatus;
  /** The containers that the user wrote under a name of the templates. */
  readonly kept: Overrides;
  /** These containers stood before the others. */
  readonly keptFirst: boolean;
  /** The injected proxy; `undefined` if the templates have none. */
  readonly proxy: ValueMap | undefined;
  /** The revision in the status annotation, which releases up to 1.8 do not write. */
  readonly revision: string | undefined;
  /** The status annotation exists. */
  readonly hasStatus: boolean;
  /** The owner of the pod, as the templates saw it. */
  readonly owner: Owner;
  /** The name of containers without one, in the kind of the workload. */
  readonly containerName: string | undefined;
}

/** Names of Istio's templates since 1.0. */
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
 * The injection of a pod; `undefined` if there is no evidence. Without a readable status annotation, a container with the
 * name and the arguments of Istio's proxy is evidence.
 * Errors: an InjectionError for an annotation with overrides that is not JSON.
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
 * Whether a container runs the agent beside an application. A gateway of the user is the application, and a container of
 * that name that a user wrote as an override does not run the agent.
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

/** The value of an environment variable of the injected proxy; `""` without it. */
export function proxyVariable({ proxy }: Evidence, name: string): string {
  return proxy === undefined ? "" : envValue(proxy, name) ?? "";
}

/** Whether injection added the container of a list. */
export function isAdded({ added }: Evidence, list: ContainerList, container: ValueMap): boolean {
  return added[list].includes(textAt(container, "name"));
}

/** Names of the application's containers. One that a template changed is in the annotation with overrides. */
export function applicationOf(pod: Pod, evidence: Evidence): readonly string[] {
  const kept = evidence.kept.containers.map((container) => textAt(container, "name"));
  return containersOf(pod, "containers").filter((container) => !isAdded(evidence, "containers", container))
    .map((container) => textAt(container, "name"))
    .concat(kept)
    .filter((name) => name !== PROXY);
}
