/** The rights of the webhook, exactly what `webhook serve` needs, and the Secret that it may change. */
import type { ValueMap } from "../../base/value.ts";
import { MANAGED_BY, SECRET_TYPE } from "../certificates/certificate_set.ts";
import { configurationNames, labelsOf, type Plan } from "./options.ts";

const GROUP = "rbac.authorization.k8s.io";

/** The ServiceAccount, its roles and bindings. */
export function accessManifests(plan: Plan): ValueMap[] {
  const { name, namespace } = plan;
  return [
    { apiVersion: "v1", kind: "ServiceAccount", metadata: { name, namespace, labels: labelsOf(plan) } },
    ...grant(plan, { name, namespace, rules: certificateRules(plan) }),
    ...configurationGrants(plan),
    ...grant(plan, { name: `${name}-${namespace}`, rules: clusterRules(plan) }),
  ];
}

/** Rules in a namespace, or in the whole cluster. */
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
 * The Secret of the certificates, which the webhook fills: RBAC cannot limit `create` to a name, so the webhook has no such right.
 * Opaque, because other types need keys. Without `data`, so that no apply of the manifests owns or clears what the webhook wrote.
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

/** RBAC limits `list` and `watch` to a name if a field selector has it (Kubernetes, "Using RBAC Authorization"). */
function certificateRules({ secret }: Plan): ValueMap[] {
  return [
    { apiGroups: [""], resources: ["secrets"], resourceNames: [secret], verbs: ["get", "list", "watch", "update"] },
  ];
}

/** For the ConfigMaps of a control plane, if the configuration comes from them. */
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

/** For the caBundle of its configurations, and for the objects that reviews depend on. */
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
