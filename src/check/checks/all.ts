import { CATEGORIES, type Category, type Check, type CheckRow } from "../check.ts";
import { DATA_PLANE_CHECKS } from "./data_plane.ts";
import { INJECTOR_CONFIGURATION_CHECKS } from "./injector_configuration.ts";
import { NAMESPACE_CHECKS } from "./namespaces.ts";
import { SECURITY_CHECKS } from "./security.ts";
import { KUBERNETES_API_CHECKS } from "./kubernetes_api.ts";
import { WEBHOOK_CHECKS } from "./webhook.ts";
import { WORKLOAD_CHECKS } from "./workloads.ts";

const ROWS: Readonly<Record<Category, readonly CheckRow[]>> = {
  "kubernetes-api": KUBERNETES_API_CHECKS,
  "injector-configuration": INJECTOR_CONFIGURATION_CHECKS,
  "webhook": WEBHOOK_CHECKS,
  "namespaces": NAMESPACE_CHECKS,
  "workloads": WORKLOAD_CHECKS,
  "security": SECURITY_CHECKS,
  "data-plane": DATA_PLANE_CHECKS,
};

/** Every check, in the order of the output. */
export const ALL_CHECKS: readonly Check[] = CATEGORIES.flatMap((category) => {
  return ROWS[category].map((row) => ({ ...row, needs: row.needs ?? [], category }));
});
