/** The fields that stay in memory, for kinds with many objects. Whole objects would take hundreds of megabytes. */
import type { Fields, Keep, KubeObject } from "../../kube/client/mod.ts";
import { isList, isMap, mapAt, type Value, type ValueMap } from "../../base/value.ts";

/** Fields to keep. A pattern keeps the fields of a mapping whose names match. In a list, fields apply to each item. */
type Kept = true | RegExp | KeptFields;

interface KeptFields {
  readonly [name: string]: Kept;
}

/** Matches annotations to keep: injection settings and status, and the tracking id of Argo CD. */
const ANNOTATIONS = /istio\.io\/|^argocd\.argoproj\.io\/tracking-id$/;

/** The same for pods, and the manifest of a pod without a controller, which shows whether it contains the sidecar. */
const OF_PODS = new RegExp(`${ANNOTATIONS.source}|^kubectl\\.kubernetes\\.io/last-applied-configuration$`);

const CONTAINERS = {
  name: true,
  image: true,
  ports: true,
  resources: true,
  restartPolicy: true,
  securityContext: true,
} as const;

const STATE = {
  running: {},
  terminated: { exitCode: true, reason: true, message: true },
  waiting: { reason: true, message: true },
} as const;

const STATUSES = { name: true, ready: true, restartCount: true, state: STATE, lastState: STATE } as const;

/** Returns a keeper for live pods: a function that keeps only the fields that checks read. */
export function podKeeper(): Keep {
  return keeper({
    metadata: {
      generateName: true,
      labels: true,
      annotations: OF_PODS,
      ownerReferences: { apiVersion: true, kind: true, name: true, controller: true },
      creationTimestamp: true,
      deletionTimestamp: true,
    },
    spec: {
      hostNetwork: true,
      nodeName: true,
      nodeSelector: true,
      os: true,
      securityContext: true,
      containers: CONTAINERS,
      initContainers: CONTAINERS,
    },
    status: {
      phase: true,
      conditions: { type: true, status: true, reason: true, message: true },
      containerStatuses: STATUSES,
      initContainerStatuses: STATUSES,
    },
  });
}

/** Matches annotations to keep for workloads: the same as for pods, and the annotations of installers. */
const OF_WORKLOADS = new RegExp(`${ANNOTATIONS.source}|^kubectl-mesh/|^meta\\.helm\\.sh/`);

/** Returns a keeper for controllers. It keeps the parts of the pod template that injection reads. */
export function workloadKeeper(): Keep {
  const containers = { name: true, image: true } as const;
  const template = {
    metadata: { labels: true, annotations: ANNOTATIONS },
    spec: { containers, initContainers: containers },
  } as const;
  return keeper({
    metadata: { labels: true, annotations: OF_WORKLOADS },
    spec: { template, jobTemplate: { spec: { template } } },
    status: { conditions: { type: true, status: true, message: true } },
  });
}

/** Returns a keeper for namespaces. It keeps labels, and OpenShift's ranges of users and groups. */
export function namespaceKeeper(): Keep {
  return keeper({ metadata: { labels: true, annotations: /^openshift\.io\/sa\.scc\./, deletionTimestamp: true } });
}

/** Returns a keeper for nodes. It does not keep the long image list. */
export function nodeKeeper(): Keep {
  return keeper({ spec: { unschedulable: true }, status: { nodeInfo: { kubeletVersion: true } } });
}

/** Returns a keeper for Services. It keeps selectors, ports, and the annotation that turns off rules. */
export function serviceKeeper(): Keep {
  return keeper({ metadata: { annotations: /^off\.kubectl-mesh\// }, spec: { selector: true, ports: true } });
}

/** Returns a keeper for CRDs of the Gateway API. It keeps the release and the served versions without their schemas. */
export function gatewayCrdKeeper(): Keep {
  return keeper({
    metadata: { annotations: /^gateway\.networking\.k8s\.io\/bundle-version$/ },
    spec: { versions: { name: true, served: true } },
  });
}

/** Returns a keeper for Argo CD's Applications. It does not keep the status, which lists every created object. */
export function applicationKeeper(): Keep {
  return keeper({ spec: { ignoreDifferences: true, syncPolicy: { syncOptions: true } } });
}

/** Returns a keeper for objects whose existence is all that matters. */
export function nameKeeper(): Keep {
  return keeper({});
}

/** Returns a keeper of these fields. Keeps equal lists and mappings once, because pods of a workload differ little. */
function keeper(parts: Readonly<Partial<Record<"metadata" | "spec" | "status", KeptFields>>>): Keep {
  const fields = { ...parts, metadata: { name: true, namespace: true, ...parts.metadata } } as const;
  const known = new Map<string, Value>();
  const shared = (value: Value): Value => {
    if (typeof value !== "object" || value === null) return value;
    const text = JSON.stringify(value);
    const first = known.get(text) ?? value;
    known.set(text, first);
    return first;
  };
  const keep = (object: KubeObject): KubeObject => {
    const { apiVersion, kind, metadata: { name } } = object;
    const kept = picked({ ...object }, fields);
    for (const part of Object.values(kept).filter(isMap)) {
      for (const [key, value] of Object.entries(part)) part[key] = shared(value);
    }
    return { apiVersion, kind, ...kept, metadata: { ...mapAt(kept, "metadata"), name } };
  };
  return Object.assign(keep, { fields: readFields({ apiVersion: true, kind: true, ...fields }) });
}

/** Returns a copy of a mapping with only these fields. */
function picked(map: ValueMap, fields: KeptFields): ValueMap {
  // V8 shares the hidden class of objects with a prototype, which saves memory.
  const found: ValueMap = {};
  for (const [key, kept] of Object.entries(fields)) {
    const value = Object.hasOwn(map, key) ? map[key] : undefined;
    if (value !== undefined) found[key] = part(value, kept);
  }
  return found;
}

function part(value: Value, kept: Kept): Value {
  if (kept === true) return value;
  if (isList(value)) return value.map((each) => part(each, kept));
  if (!isMap(value)) return value;
  if (!(kept instanceof RegExp)) return picked(value, kept);
  return Object.fromEntries(Object.entries(value).filter(([key]) => kept.test(key)));
}

/** Returns the fields that the client parses. For a pattern, the client parses all fields of the mapping. */
function readFields(kept: KeptFields): Exclude<Fields, true> {
  const entries = Object.entries(kept).map(([key, inner]): [string, Fields] => {
    return [key, inner === true || inner instanceof RegExp ? true : readFields(inner)];
  });
  return Object.fromEntries(entries);
}
