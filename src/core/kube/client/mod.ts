/**
 * A client of a cluster's API (`connect`), as small as what the program asks: objects are plain JSON, requests are
 * `fetch`. In: a kubeconfig or a pod's service account. Out: a `KubeApi`.
 */
export * from "./api.ts";
export { connect, type KubeConnection } from "./connect.ts";
export * from "./models.ts";
export { keyOf } from "./kube_object.ts";
export type { ConnectOptions } from "./connection.ts";
