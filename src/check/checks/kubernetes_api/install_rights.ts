/** Checks that the user may install Istio. */
import { counted } from "../../../base/text/mod.ts";
import { byHand, look } from "../../advice/advice.ts";
import { shows } from "../../advice/commands.ts";
import type { Finding } from "../../check.ts";
import type { Facts } from "../../facts.ts";
import { fixesBy, WHOLE_CLUSTER } from "../findings.ts";

const RBAC = "rbac.authorization.k8s.io";
const ADMISSION = "admissionregistration.k8s.io";

interface Created {
  readonly group: string;
  readonly resources: readonly string[];
  /** The resources are created in the namespace of the control plane. */
  readonly inControlPlane?: true;
}

/** The resources that Istio's charts `base` and `istiod` create. */
const CREATED: readonly Created[] = [
  { group: "", resources: ["namespaces"] },
  { group: RBAC, resources: ["clusterroles", "clusterrolebindings"] },
  { group: "apiextensions.k8s.io", resources: ["customresourcedefinitions"] },
  { group: ADMISSION, resources: ["mutatingwebhookconfigurations", "validatingwebhookconfigurations"] },
  { group: RBAC, resources: ["roles", "rolebindings"], inControlPlane: true },
  { group: "", resources: ["serviceaccounts", "services", "configmaps"], inControlPlane: true },
  { group: "apps", resources: ["deployments"], inControlPlane: true },
  { group: "autoscaling", resources: ["horizontalpodautoscalers"], inControlPlane: true },
  { group: "policy", resources: ["poddisruptionbudgets"], inControlPlane: true },
];

/** Reports missing rights as a warning, because another user may install Istio. */
export async function installRights(facts: Facts): Promise<Finding> {
  const { namespace, istioNamespace } = facts.scope;
  if (namespace !== undefined) return WHOLE_CLUSTER;
  if ((await facts.injectors()).length > 0) {
    return { result: "skipped", message: "Istio is already installed" };
  }
  const wanted = CREATED.flatMap(({ group, resources, inControlPlane }) =>
    resources.map((resource) => ({
      verb: "create",
      group,
      resource,
      ...inControlPlane === undefined ? {} : { namespace: istioNamespace },
    }))
  );
  const answers = await Promise.all(wanted.map((need) => facts.may(need)));
  const denied = wanted.filter((_, index) => answers[index] !== true);
  if (denied.length === 0) return { result: "ok" };
  const names = denied.map(({ resource, group }) => group === "" ? resource : `${resource}.${group}`);
  return {
    result: "warning",
    message: `you may not create ${counted(denied.length, "kind")} of ${wanted.length} that Istio's charts create: ` +
      names.join(", "),
    fixes: fixesBy(
      byHand("ask an administrator to install Istio", "nothing"),
      look("list all your rights", shows("auth", "can-i", "--list")),
    ),
  };
}
