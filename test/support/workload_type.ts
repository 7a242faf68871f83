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

/** The Kubernetes type that a document of a kind is decoded as; `undefined` for kinds without pods. */
export function workloadType(kind: string): string | undefined {
  if (kind === "DeploymentConfig") return "openshift.DeploymentConfig";
  return kind === "List" || KINDS.includes(kind) ? kind : undefined;
}
