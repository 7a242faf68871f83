import { flag, type FlagGroups, flagsWith } from "../../../golang/flags/mod.ts";
import { type Input } from "../../command.ts";
import { CLUSTER, CONFIGURATION, CONTROL_PLANE, FILENAMES, NATIVE_SIDECARS } from "../../shared_flags.ts";

export const CONFIG_DIFF_FLAGS = {
  "Pods (samples unless files are given)": {
    ...FILENAMES,
    namespace: flag("-n, --namespace NAMESPACE", "Namespace for resources without a namespace", {
      type: "name",
      completes: "namespaces",
      default: "default",
    }),
  },
  "Configurations": {
    values: { ...CONFIGURATION.values, doc: "Values for files without values" },
    meshConfig: { ...CONFIGURATION.meshConfig, doc: "Mesh configuration for files without a mesh configuration" },
    ...NATIVE_SIDECARS,
  },
  "Cluster (for rev:NAME)": flagsWith({
    istioNamespace: { ...CONTROL_PLANE.istioNamespace, default: "istio-system" },
    ...CLUSTER,
  }, { needsArgument: "rev:NAME" }),
} as const satisfies FlagGroups;

export type ConfigDiffInput = Input<typeof CONFIG_DIFF_FLAGS>;
