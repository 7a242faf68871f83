/** Lists the kept fields for kinds with many objects. A test verifies that no other fields are kept. */
import type { Keep as KeepObject, KubeObject } from "../../kube/client/mod.ts";
import { isList, isMap } from "../../base/value.ts";
import { each, fields, fieldsOf, type Keep, named, pick, shared, sharedParts, whole } from "./keep.ts";

/** Matches annotations to keep: injection settings and status, and the tracking id of Argo CD. */
const ANNOTATIONS = /istio\.io\/|^argocd\.argoproj\.io\/tracking-id$/;

/** Returns a keeper for live pods: a function that keeps only the fields that checks read. */
export function podKeeper(): (pod: KubeObject) => KubeObject {
  const containers = each(shared(fields({
    name: whole,
    image: whole,
    ports: shared(whole),
    resources: shared(whole),
    restartPolicy: whole,
    securityContext: shared(whole),
  })));
  const ending = fields({ exitCode: whole, reason: whole, message: whole });
  const state = fields({ running: nothing, terminated: ending, waiting: fields({ reason: whole, message: whole }) });
  const statuses = each(
    shared(fields({ name: whole, ready: whole, restartCount: whole, state: shared(state), lastState: shared(state) })),
  );
  return keeper({
    metadata: {
      generateName: shared(whole),
      labels: shared(whole),
      annotations: sharedParts(named(ANNOTATIONS)),
      ownerReferences: shared(fields({ apiVersion: whole, kind: whole, name: whole, controller: whole })),
      creationTimestamp: shared(whole),
      deletionTimestamp: whole,
    },
    spec: sharedParts(fields({
      hostNetwork: whole,
      nodeName: shared(whole),
      nodeSelector: shared(whole),
      os: whole,
      securityContext: shared(whole),
      containers,
      initContainers: containers,
    })),
    status: sharedParts(fields({
      phase: whole,
      conditions: shared(fields({ type: whole, status: whole, reason: whole, message: whole })),
      containerStatuses: statuses,
      initContainerStatuses: statuses,
    })),
  });
}

/** Matches annotations to keep for workloads: the same as for pods, and the annotations of installers. */
const OF_WORKLOADS = new RegExp(`${ANNOTATIONS.source}|^kubectl-mesh/|^meta\\.helm\\.sh/`);

/** Returns a keeper for controllers. It keeps the parts of the pod template that injection reads. */
export function workloadKeeper(): (workload: KubeObject) => KubeObject {
  const strings = (kept: RegExp) => ({ labels: shared(whole), annotations: sharedParts(named(kept)) });
  const containers = fields({ name: whole });
  const pod = { metadata: fields(strings(ANNOTATIONS)), spec: fields({ containers, initContainers: containers }) };
  const template = shared(fields(pod));
  return keeper({
    metadata: strings(OF_WORKLOADS),
    spec: fields({ template, jobTemplate: fields({ spec: fields({ template }) }) }),
    status: fields({ conditions: refusals }),
  });
}

/** Keeps only conditions about pods that could not be created. Other conditions are many and change often. */
const refusals: Keep = (value) => {
  const conditions = isList(value) ? value.filter((each) => isMap(each) && each["type"] === "ReplicaFailure") : [];
  return conditions.map(fields({ type: whole, status: whole, message: whole }));
};

/** Matches OpenShift's annotations with the user and group ranges of a namespace. */
const SCC = /^openshift\.io\/sa\.scc\./;

/** Returns a keeper for namespaces. It keeps labels and user ranges. */
export function namespaceKeeper(): (namespace: KubeObject) => KubeObject {
  return keeper({ metadata: { labels: whole, annotations: named(SCC), deletionTimestamp: whole } });
}

/**
 * Returns a keeper for nodes. It keeps the kubelet version and whether the node is cordoned, but not the long image
 * list.
 */
export function nodeKeeper(): (node: KubeObject) => KubeObject {
  const spec = fields({ unschedulable: whole });
  return keeper({ metadata: {}, spec, status: fields({ nodeInfo: fields({ kubeletVersion: whole }) }) });
}

/** Returns a keeper for Services. It keeps selectors, ports, and the annotation that turns off rules. */
export function serviceKeeper(): KeepObject {
  return keeper({
    metadata: { annotations: named(/^off\.kubectl-mesh\//) },
    spec: fields({ selector: whole, ports: whole }),
  });
}

/** Returns a keeper for CRDs of the Gateway API. It keeps the release and the served versions without their schemas. */
export function gatewayCrdKeeper(): KeepObject {
  return keeper({
    metadata: { annotations: named(/^gateway\.networking\.k8s\.io\/bundle-version$/) },
    spec: fields({ versions: fields({ name: whole, served: whole }) }),
  });
}

/**
 * Returns a keeper for Argo CD's Applications. It keeps the ignored fields, but not the status, which lists every
 * created object.
 */
export function applicationKeeper(): KeepObject {
  return keeper({
    metadata: {},
    spec: fields({ ignoreDifferences: whole, syncPolicy: fields({ syncOptions: whole }) }),
  });
}

/** Returns a keeper for objects whose existence is all that matters. */
export function nameKeeper(): KeepObject {
  return keeper({ metadata: {} });
}

const nothing: Keep = Object.assign(() => ({}), { fields: {} });

/** Fields to keep in addition to type and name. */
interface ObjectKeep {
  readonly metadata: Readonly<Record<string, Keep>>;
  readonly spec?: Keep;
  readonly status?: Keep;
}

function keeper({ metadata: kept, spec, status }: ObjectKeep): KeepObject {
  const entries = Object.entries(kept);
  const inside = { ...(spec && { spec }), ...(status && { status }) };
  const parts = Object.entries(inside);
  const metadata = { name: true, namespace: true, ...fieldsOf(kept) } as const;
  const keep = (object: KubeObject): KubeObject => {
    const { apiVersion, kind, metadata } = object;
    const { name, namespace } = metadata;
    const own = namespace === undefined ? { name } : { name, namespace };
    return { apiVersion, kind, metadata: { ...own, ...pick(metadata, entries) }, ...pick(object, parts) };
  };
  return Object.assign(keep, { fields: { apiVersion: true, kind: true, metadata, ...fieldsOf(inside) } as const });
}
