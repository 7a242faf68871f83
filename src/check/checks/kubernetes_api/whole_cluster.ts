import type { Finding } from "../../check.ts";

/** For what a namespace does not show. */
export const WHOLE_CLUSTER: Finding = {
  result: "skipped",
  message: "it is about the whole cluster, and --namespace about one namespace",
};
