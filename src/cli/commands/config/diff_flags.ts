import { flag, type FlagGroups, flagsWith } from "../../../golang/flags/mod.ts";
import { type Input } from "../../command.ts";
import { CLUSTER, CONFIGURATION, CONTROL_PLANE, FILENAMES, NATIVE_SIDECARS } from "../../shared_flags.ts";

export const CONFIG_DIFF_FLAGS = {
  "Pods (samples unless files are given)": {
    ...FILENAMES,
    namespace: flag("-n, --namespace NAMESPACE", "Namespace of resources without one", {
      completes: "namespaces",
      default: "default",
    }),
  },
  "Configurations": {
    values: { ...CONFIGURATION.values, doc: "Values of files that have none" },
    meshConfig: { ...CONFIGURATION.meshConfig, doc: "Mesh configuration of files that have none" },
    ...NATIVE_SIDECARS,
  },
  "Cluster (for rev:NAME)": flagsWith({
    istioNamespace: { ...CONTROL_PLANE.istioNamespace, default: "istio-system" },
    ...CLUSTER,
  }, { needsArgument: "rev:NAME" }),
} as const satisfies FlagGroups;

export type ConfigDiffInput = Input<typeof CONFIG_DIFF_FLAGS>;
