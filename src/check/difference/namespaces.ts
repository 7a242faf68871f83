/** Compares what two clusters do with a pod without labels, in each namespace that both have. */
import type { KubeApi } from "../../kube/client/mod.ts";
import type { InjectionSnapshot, NativeChoice } from "../../inject/mod.ts";
import { clusterKnowledge } from "../injection/knowledge.ts";
import { ownerOfTarget, podOf, targetOf } from "../injection/target.ts";
import { type Verdict, verdictOf } from "../injection/verdict.ts";
import type { Source } from "../inventory/mod.ts";
import { snapshotInjection } from "../snapshot/snapshot.ts";
import { snapshotCluster } from "../snapshot/snapshot_api.ts";
import type { PodPair, Side } from "./difference.ts";

export interface NamespaceDifference {
  /** What happens to the pod in each namespace, on both sides. */
  readonly pairs: readonly PodPair[];
  /** The namespaces that only one side has. */
  readonly missing: readonly string[];
  /** Why the comparison is incomplete. */
  readonly unknown: readonly string[];
}

export interface NamespaceAsking {
  /** The cluster of the sides that are live. */
  readonly api: KubeApi | undefined;
  readonly clock: Source["clock"];
  readonly native: NativeChoice | undefined;
}

interface Cluster {
  readonly name: string;
  readonly snapshot: InjectionSnapshot;
}

/**
 * Returns `undefined` unless both sides know a cluster, and one of them is a snapshot. Compares with a live cluster only
 * the namespaces to which the snapshot is limited. Throws errors of the API except for missing rights.
 */
export async function namespaceDifference(
  [a, b]: readonly [Side, Side],
  asking: NamespaceAsking,
): Promise<NamespaceDifference | undefined> {
  const known = [a, b].map(({ cluster }) => cluster).find((cluster) => cluster !== undefined && cluster !== "live");
  if (known === undefined || a.cluster === undefined || b.cluster === undefined) return undefined;
  const snapshotOf = async (cluster: InjectionSnapshot | "live") =>
    cluster === "live" ? await liveSnapshot(known, asking) : cluster;
  return await differenceOfClusters(
    { name: a.name, snapshot: await snapshotOf(a.cluster) },
    { name: b.name, snapshot: await snapshotOf(b.cluster) },
    asking,
  );
}

async function liveSnapshot(like: InjectionSnapshot, { api }: NamespaceAsking): Promise<InjectionSnapshot> {
  if (api === undefined) throw new Error("a live side needs an API");
  const { controlPlane, namespaces } = like;
  return await snapshotInjection(api, { controlPlane, namespaces }, { at: () => {}, now: () => {} });
}

async function differenceOfClusters(a: Cluster, b: Cluster, asking: NamespaceAsking): Promise<NamespaceDifference> {
  const unreadable = [a, b].flatMap(({ name, snapshot }) =>
    snapshot.unreadable.filter(({ resource }) => resource === "namespaces").map(({ needs }) =>
      `"${name}" needs ${needs}`
    )
  );
  if (unreadable.length > 0) return { pairs: [], missing: [], unknown: unreadable };
  const [before, after] = [judge(a, asking), judge(b, asking)];
  const [namesBefore, namesAfter] = [namesIn(a), namesIn(b)];
  const pairs: PodPair[] = [];
  const missing: string[] = [];
  const unknown = new Set<string>();
  for (const namespace of [...namesBefore.union(namesAfter)].sort()) {
    const isBefore = namesBefore.has(namespace);
    if (isBefore && namesAfter.has(namespace)) {
      const verdicts = [await before(namespace), await after(namespace)] as const;
      const doubts = verdicts.flatMap(({ verdict, message }) => verdict === "cannot-tell" ? [message] : []);
      for (const doubt of doubts) unknown.add(doubt);
      if (doubts.length > 0) continue;
      pairs.push({ name: `namespace/${namespace}`, before: textOf(verdicts[0]), after: textOf(verdicts[1]) });
    } else if (isIn(isBefore ? b : a, namespace)) {
      missing.push(`Only "${isBefore ? a.name : b.name}" has the namespace "${namespace}"`);
    }
  }
  return { pairs, missing, unknown: [...unknown] };
}

function namesIn({ snapshot }: Cluster): ReadonlySet<string> {
  const namespaces = snapshot.objects.filter(({ kind }) => kind === "Namespace");
  return new Set(namespaces.map(({ metadata: { name } }) => name));
}

/** Whether the snapshot would contain the namespace, if it existed. */
function isIn({ snapshot: { namespaces } }: Cluster, name: string): boolean {
  return namespaces.length === 0 || namespaces.includes(name);
}

/** Returns a function that judges a pod without labels in a namespace. */
function judge({ name, snapshot }: Cluster, { clock, native }: NamespaceAsking) {
  const { api, choice } = snapshotCluster(snapshot, name);
  const knowledgeOf = clusterKnowledge({ api, clock, choice, given: undefined, native, wantsPods: false, snapshot });
  return async (namespace: string): Promise<Verdict> => {
    const target = targetOf(POD, namespace, "");
    if (target === undefined) throw new Error("a Pod is a workload");
    const pod = podOf(target);
    return verdictOf({ ...await knowledgeOf(namespace), pod, owner: ownerOfTarget(target), isMade: false });
  };
}

const POD = {
  apiVersion: "v1",
  kind: "Pod",
  metadata: { name: "plain" },
  spec: { containers: [{ name: "app", image: "example.com/app:1" }] },
};

/** Describes what the pod gets, without the reason, because another reason is no difference of the pod. */
function textOf({ verdict, message, injections }: Verdict): string {
  if (verdict === "refused") return `refused: ${message}\n`;
  const by = injections.map(({ webhook: { revision }, injector: { nativeSidecars } }) => {
    return `injected by revision "${revision}"${nativeSidecars ? ", with a native sidecar" : ""}\n`;
  });
  return verdict === "injected" ? by.join("") : "not injected\n";
}
