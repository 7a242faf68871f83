/** What checks read of the kinds of which there are many. A test reads the rest and finds it gone. */
import type { KubeObject } from "../../core/kube/client/mod.ts";
import { fields, type Keep, named, pick, shared, whole } from "./keep.ts";

/** Settings of injection, and the notes that it leaves. */
const ANNOTATIONS = /istio\.io\//;

/** Of live pods. */
export function podKeeper(): (pod: KubeObject) => KubeObject {
  const containers = fields({
    name: whole,
    image: whole,
    ports: whole,
    resources: whole,
    restartPolicy: whole,
    securityContext: whole,
  });
  const ending = fields({ exitCode: whole, reason: whole, message: whole });
  const state = fields({ running: nothing, terminated: ending, waiting: fields({ reason: whole, message: whole }) });
  const statuses = fields({ name: whole, ready: whole, restartCount: whole, state, lastState: state });
  return keeper({
    metadata: {
      generateName: whole,
      labels: shared(whole),
      annotations: shared(named(ANNOTATIONS)),
      ownerReferences: shared(fields({ apiVersion: whole, kind: whole, name: whole, controller: whole })),
      deletionTimestamp: whole,
    },
    spec: shared(fields({
      hostNetwork: whole,
      securityContext: whole,
      containers,
      initContainers: containers,
    })),
    status: shared(fields({
      phase: whole,
      conditions: fields({ type: whole, status: whole, reason: whole, message: whole }),
      containerStatuses: statuses,
      initContainerStatuses: statuses,
    })),
  });
}

/** Of what makes pods: what its pods are like, as far as injection is concerned. */
export function workloadKeeper(): (workload: KubeObject) => KubeObject {
  const strings = { labels: shared(whole), annotations: shared(named(ANNOTATIONS)) };
  const containers = fields({ name: whole });
  const pod = { metadata: fields(strings), spec: fields({ containers, initContainers: containers }) };
  const template = shared(fields(pod));
  return keeper({
    metadata: strings,
    spec: fields({ template, jobTemplate: fields({ spec: fields({ template }) }) }),
  });
}

/** Of namespaces: how they choose. */
export function namespaceKeeper(): (namespace: KubeObject) => KubeObject {
  return keeper({ metadata: { labels: whole, deletionTimestamp: whole } });
}

/** Of nodes: what they run. Their lists of images are long. */
export function nodeKeeper(): (node: KubeObject) => KubeObject {
  return keeper({ metadata: {}, status: fields({ nodeInfo: fields({ kubeletVersion: whole }) }) });
}

const nothing: Keep = () => ({});

/** What stays of an object besides what it is and its name. */
interface ObjectKeep {
  readonly metadata: Readonly<Record<string, Keep>>;
  readonly spec?: Keep;
  readonly status?: Keep;
}

function keeper({ metadata: kept, spec, status }: ObjectKeep): (object: KubeObject) => KubeObject {
  const entries = Object.entries(kept);
  const parts = Object.entries({ ...(spec && { spec }), ...(status && { status }) });
  return (object) => {
    const { apiVersion, kind, metadata } = object;
    const { name, namespace } = metadata;
    const own = namespace === undefined ? { name } : { name, namespace };
    return { apiVersion, kind, metadata: { ...own, ...pick(metadata, entries) }, ...pick(object, parts) };
  };
}
