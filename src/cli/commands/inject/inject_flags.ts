import { flag, type FlagGroups, flagsWith } from "../../../golang/flags/mod.ts";
import type { Input } from "../../command.ts";
import {
  CLUSTER,
  CONFIGURATION,
  CONTROL_PLANE,
  IMAGES,
  ISTIO_VERSION,
  MANIFESTS,
  NATIVE_SIDECARS,
  REVISION,
  RULES,
  TEMPLATE_ENV,
} from "../../shared_flags.ts";

export const INJECT_FLAGS = {
  "Manifests": MANIFESTS,
  "Findings": {
    failOn: flag("--fail-on error|warning", "Lowest finding that makes the exit code 1; the output is still written"),
    ...RULES,
  },
  "Configuration (built-in unless given)": {
    ...CONFIGURATION,
    revision: { ...REVISION.revision, default: "default" },
    ...IMAGES,
    tag: flag("--tag TAG", "Tag of the proxy's images"),
    ...NATIVE_SIDECARS,
    fit: flag(
      "--fit baseline|restricted",
      "Make pods that meet this level of Pod Security, or fail: --cni, and for restricted a seccomp profile",
    ),
    ...ISTIO_VERSION,
    ...TEMPLATE_ENV,
    showConfig: flag("--show-config", "Print the configuration in use and stop"),
  },
  "Configuration from a cluster": {
    fromCluster: flag("--from-cluster", "Read what is not given as a file from the ConfigMaps of the control plane"),
    asWebhook: flag(
      "--as-webhook",
      "Decide as the cluster's webhooks would, and inject each pod with the configuration of the revision that takes it",
      {
        needs: ["from-cluster", "inject-config"],
        excludes: [
          "values",
          "mesh-config",
          "revision",
          "hub",
          "tag",
          "cni",
          "fit",
          "istio-version",
          "template-env",
          "show-config",
        ],
      },
    ),
    ...flagsWith({ ...CONTROL_PLANE, ...CLUSTER }, {
      needs: ["from-cluster"],
    }),
  },
} as const satisfies FlagGroups;

export type InjectInput = Input<typeof INJECT_FLAGS>;
