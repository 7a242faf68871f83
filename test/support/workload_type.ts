const KINDS = [
  "Pod",
  "ReplicationController",
  "Deployment",
  "DaemonSet",
  "ReplicaSet",
  "StatefulSet",
  "Job",
  "CronJob",
];

/** Returns the Kubernetes type for documents of a kind; `undefined` for kinds without pods. */
export function workloadType(kind: string): string | undefined {
  if (kind === "DeploymentConfig") return "openshift.DeploymentConfig";
  return kind === "List" || KINDS.includes(kind) ? kind : undefined;
}
