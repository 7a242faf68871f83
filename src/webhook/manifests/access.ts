/** Manifests for the RBAC permissions that `webhook serve` needs, and for the webhook's Secret. */
import type { ValueMap } from "../../base/value.ts";
import { MANAGED_BY, SECRET_TYPE } from "../certificates/certificate_set.ts";
import { configurationNames, labelsOf, objectOf, type Plan } from "./options.ts";

export function accessManifests(plan: Plan): ValueMap[] {
  const { name, namespace, cluster } = plan;
  const account = { name, namespace, labels: labelsOf(plan) };
  return [
    objectOf(plan, "v1", "ServiceAccount", {}),
    // With `resourceNames`, `list` and `watch` need a field selector on the name (Kubernetes, "Using RBAC Authorization").
    ...grant(account, { name, namespace }, [rule("", ["secrets"], ["get", "list", "watch", "update"], [plan.secret])]),
    ...cluster === undefined ? [] : grant(account, {
      name: `${name}-configuration`,
      namespace: cluster.namespace,
    }, [rule("", ["configmaps"], ["get", "list", "watch"], [cluster.injector, cluster.mesh])]),
    // To update the caBundle, and to watch the objects on which reviews depend.
    ...grant(account, { name: `${name}-${namespace}` }, [
      rule(
        "admissionregistration.k8s.io",
        ["mutatingwebhookconfigurations"],
        ["get", "list", "watch", "patch"],
        configurationNames(plan),
      ),
      rule("", ["namespaces", "nodes"], ["list", "watch"]),
      rule("networking.istio.io", ["proxyconfigs"], ["list", "watch"]),
    ]),
  ];
}

/** Builds an RBAC rule. Without `names`, the rule applies to all objects of the resources. */
export function rule(group: string, resources: string[], verbs: string[], names: string[] = []): ValueMap {
  const named: ValueMap = names.length === 0 ? {} : { resourceNames: names };
  return { apiGroups: [group], resources, ...named, verbs };
}

const GROUP = "rbac.authorization.k8s.io";

/** Metadata of a ServiceAccount. The role and the binding get the same labels. */
interface Account {
  readonly name: string;
  readonly namespace: string;
  readonly labels: Record<string, string>;
}

/** Returns a role and its binding to a ServiceAccount. Without a namespace, the role is for the whole cluster. */
export function grant(
  { name, namespace, labels }: Account,
  role: { readonly name: string; readonly namespace?: string },
  rules: ValueMap[],
): ValueMap[] {
  const kind = role.namespace === undefined ? "ClusterRole" : "Role";
  const metadata = { ...role, labels };
  return [
    { apiVersion: `${GROUP}/v1`, kind, metadata, rules },
    {
      apiVersion: `${GROUP}/v1`,
      kind: `${kind}Binding`,
      metadata,
      roleRef: { apiGroup: GROUP, kind, name: role.name },
      subjects: [{ kind: "ServiceAccount", name, namespace }],
    },
  ];
}

/**
 * Returns the empty Secret that the webhook fills. RBAC cannot limit `create` to a name, so the webhook may only update it.
 * The type is Opaque, because other types require keys. The manifest has no `data`, so that applying it keeps the data.
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
