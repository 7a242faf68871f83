/** What the webhook may do in the cluster: exactly what `webhook serve` does. */
import type { ValueMap } from "../../core/value.ts";
import { labelsOf } from "./labels.ts";
import { configurationNames, type Plan } from "./options.ts";

const GROUP = "rbac.authorization.k8s.io";

/** The ServiceAccount and its rights. */
export function accessManifests(plan: Plan): ValueMap[] {
  const { name, namespace } = plan;
  return [
    { apiVersion: "v1", kind: "ServiceAccount", metadata: { name, namespace, labels: labelsOf(plan) } },
    ...grant(plan, { name, namespace, rules: certificateRules(plan) }),
    ...configurationGrants(plan),
    ...grant(plan, { name: `${name}-${namespace}`, rules: clusterRules(plan) }),
  ];
}

/** Rights in a namespace, or in all of the cluster. */
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
 * Makes the Secret of the certificates, and reads and writes that one. `create` cannot be limited to a name (Kubernetes,
 * "Using RBAC Authorization"); `list` and `watch` can, for a watch of the one name.
 */
function certificateRules({ secret }: Plan): ValueMap[] {
  return [
    { apiGroups: [""], resources: ["secrets"], verbs: ["create"] },
    { apiGroups: [""], resources: ["secrets"], resourceNames: [secret], verbs: ["get", "list", "watch", "update"] },
  ];
}

/** Reads the ConfigMaps of a control plane, where the configuration comes from them. */
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

/** Patches the caBundle of the configurations that call it, and reads what decides about pods besides the configuration. */
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
