import type { Finding } from "../../check.ts";

/** The finding of cluster-wide checks when `--namespace` limits the scope. */
export const WHOLE_CLUSTER: Finding = {
  result: "skipped",
  message: "the check needs the whole cluster, but --namespace selects one namespace",
};
