import type { Check } from "../check.ts";
import { DATA_PLANE_CHECKS } from "./data_plane.ts";
import { INJECTOR_CONFIGURATION_CHECKS } from "./injector_configuration.ts";
import { NAMESPACE_CHECKS } from "./namespaces.ts";
import { SECURITY_CHECKS } from "./security.ts";
import { KUBERNETES_API_CHECKS } from "./kubernetes_api.ts";
import { WEBHOOK_CHECKS } from "./webhook.ts";
import { WORKLOAD_CHECKS } from "./workloads.ts";

/** Every check, in the order in which results are told. */
export const ALL_CHECKS: readonly Check[] = [
  ...KUBERNETES_API_CHECKS,
  ...INJECTOR_CONFIGURATION_CHECKS,
  ...WEBHOOK_CHECKS,
  ...NAMESPACE_CHECKS,
  ...WORKLOAD_CHECKS,
  ...SECURITY_CHECKS,
  ...DATA_PLANE_CHECKS,
];
