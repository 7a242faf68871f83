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
    failOn: flag(
      "--fail-on error|warning",
      "Lowest severity of a finding that causes exit code 1; the output is still written",
    ),
    ...RULES,
  },
  "Configuration (built-in unless given)": {
    ...CONFIGURATION,
    revision: { ...REVISION.revision, default: "default" },
    ...IMAGES,
    tag: flag("--tag TAG", "Tag of the proxy's images", { type: "tag" }),
    ...NATIVE_SIDECARS,
    fit: flag(
      "--fit baseline|restricted",
      "Create pods that meet this Pod Security level, or fail; sets --cni, and for restricted also a seccomp profile",
    ),
    ...ISTIO_VERSION,
    ...TEMPLATE_ENV,
    showConfig: flag("--show-config", "Print the configuration in use and stop"),
  },
  "Configuration from a cluster": {
    fromCluster: flag(
      "--from-cluster",
      "Read the configuration from the control plane's ConfigMaps, except the parts given as files",
    ),
    asWebhook: flag(
      "--as-webhook",
      "Decide like the cluster's webhooks, and inject each pod with the configuration of its revision",
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
