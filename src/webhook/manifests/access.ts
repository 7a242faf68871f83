/** Manifests for the webhook's RBAC permissions, exactly those that `webhook serve` needs, and for its Secret. */
import type { ValueMap } from "../../base/value.ts";
import { MANAGED_BY, SECRET_TYPE } from "../certificates/certificate_set.ts";
import { configurationNames, labelsOf, type Plan } from "./options.ts";

const GROUP = "rbac.authorization.k8s.io";

/** Returns the ServiceAccount with its roles and role bindings. */
export function accessManifests(plan: Plan): ValueMap[] {
  const { name, namespace } = plan;
  return [
    { apiVersion: "v1", kind: "ServiceAccount", metadata: { name, namespace, labels: labelsOf(plan) } },
    ...grant(plan, { name, namespace, rules: certificateRules(plan) }),
    ...configurationGrants(plan),
    ...grant(plan, { name: `${name}-${namespace}`, rules: clusterRules(plan) }),
  ];
}

/** RBAC rules for a namespace, or for the whole cluster if `namespace` is absent. */
interface Grant {
  readonly name: string;
  readonly namespace?: string;
  readonly rules: ValueMap[];
}

function grant(plan: Plan, { name, namespace, rules }: Grant): ValueMap[] {
  const kind = namespace === undefined ? "ClusterRole" : "Role";
  const metadata = { name, ...(namespace === undefined ? {} : { namespace }), labels: labelsOf(plan) };
  return [
    { apiVersion: `${GROUP}/v1`, kind, metadata, rules },
    {
      apiVersion: `${GROUP}/v1`,
      kind: `${kind}Binding`,
      metadata,
      roleRef: { apiGroup: GROUP, kind, name },
      subjects: [{ kind: "ServiceAccount", name: plan.name, namespace: plan.namespace }],
    },
  ];
}

/**
 * Returns the empty Secret that the webhook fills. RBAC cannot limit `create` to a name, so the webhook may only update it.
 * The type is Opaque, because other types require keys. It has no `data`, so that applying the manifests again keeps the data.
 */
export function certificateSecret(plan: Plan): ValueMap {
  const labels = { ...labelsOf(plan), ...MANAGED_BY };
  return {
    apiVersion: "v1",
    kind: "Secret",
    metadata: { name: plan.secret, namespace: plan.namespace, labels },
    type: SECRET_TYPE,
  };
}

/** With `resourceNames`, `list` and `watch` need a field selector on the name (Kubernetes, "Using RBAC Authorization"). */
function certificateRules({ secret }: Plan): ValueMap[] {
  return [
    { apiGroups: [""], resources: ["secrets"], resourceNames: [secret], verbs: ["get", "list", "watch", "update"] },
  ];
}

/** Permissions to read the control plane's ConfigMaps, if the configuration comes from these. */
function configurationGrants(plan: Plan): ValueMap[] {
  if (plan.cluster === undefined) return [];
  const { namespace, injector, mesh } = plan.cluster;
  const rules = [{
    apiGroups: [""],
    resources: ["configmaps"],
    resourceNames: [injector, mesh],
    verbs: ["get", "list", "watch"],
  }];
  return grant(plan, { name: `${plan.name}-configuration`, namespace, rules });
}

/** Permissions to update the caBundle, and to watch the objects on which reviews depend. */
function clusterRules(plan: Plan): ValueMap[] {
  return [
    {
      apiGroups: ["admissionregistration.k8s.io"],
      resources: ["mutatingwebhookconfigurations"],
      resourceNames: configurationNames(plan),
      verbs: ["get", "list", "watch", "patch"],
    },
    { apiGroups: [""], resources: ["namespaces", "nodes"], verbs: ["list", "watch"] },
    { apiGroups: ["networking.istio.io"], resources: ["proxyconfigs"], verbs: ["list", "watch"] },
  ];
}
