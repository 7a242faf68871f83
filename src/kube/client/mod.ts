/**
 * A client of a cluster's API (`connect`), which returns plain JSON objects. Connects with a kubeconfig or a pod's
 * service account.
 */
export * from "./api.ts";
export { connect, type KubeConnection } from "./connect.ts";
export * from "./exec_failure.ts";
export type { ExecResult } from "./exec.ts";
export * from "./models.ts";
export { keyOf } from "./kube_object.ts";
export type { ConnectOptions } from "./connection.ts";
export { type KubeconfigNames, kubeconfigNames } from "./kubeconfig_file.ts";
export type { Fields } from "./select_fields.ts";
export { readAll } from "./read_all.ts";
export { readWorkloadName, type Resource, workloadCollection, workloadKinds } from "./workload_name.ts";
