/** Pods of manifests in a real cluster, in a comparable form. */
import { isMap, type Value, type ValueMap } from "../../../src/base/value.ts";
import { mapAt } from "../../../src/base/value.ts";
import { comparable } from "../../support/cases/comparable.ts";
import { podsOf } from "../../support/kube/review.ts";
import type { Cluster } from "./cluster/cluster.ts";
import { create, DRY_RUN } from "./webhook.ts";

/** A pod without fields that differ for each creation. */
export function held(pod: Value | undefined): unknown {
  if (!isMap(pod) || !isMap(pod["metadata"])) throw new Error("this is no pod");
  const { uid: _, creationTimestamp: _at, resourceVersion: _version, managedFields: _fields, ...metadata } =
    pod["metadata"];
  delete metadata["namespace"];
  delete metadata["name"];
  return withoutDefaults(comparable({ metadata, spec: pod["spec"] ?? null }));
}

/** Defaults that the API server fills in and manifests leave out. */
const DEFAULTS: Readonly<Record<string, readonly unknown[]>> = {
  protocol: ["TCP"],
  scheme: ["HTTP"],
  path: ["/"],
  timeoutSeconds: [1],
  periodSeconds: [10],
  successThreshold: [1],
  failureThreshold: [3],
  imagePullPolicy: ["Always", "IfNotPresent"],
  terminationMessagePath: ["/dev/termination-log"],
  terminationMessagePolicy: ["File"],
};

function withoutDefaults(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutDefaults);
  if (!isMap(value)) return value;
  const own = Object.entries(value).filter(([key, item]) => DEFAULTS[key]?.includes(item) !== true);
  return Object.fromEntries(own.map(([key, item]) => [key, withoutDefaults(item)]));
}

/** Creates the pods of manifests in a namespace, as a dry run. */
export async function dryRun(cluster: Cluster, manifests: string, namespace: string): Promise<ValueMap[]> {
  const pods = podsOf(manifests).map(({ pod }) => {
    const spec = { ...mapAt(pod, "spec"), serviceAccountName: "default", automountServiceAccountToken: false };
    return { ...pod, metadata: { ...mapAt(pod, "metadata"), namespace }, spec };
  });
  return await create(cluster, pods, DRY_RUN);
}
