/** What the webhook may do in the cluster: exactly what `webhook serve` does. */
import type { ValueMap } from "../../core/value.ts";
import { labelsOf } from "./labels.ts";
import { configurationNames, type Plan } from "./options.ts";

const GROUP = "rbac.authorization.k8s.io";

/**
 * The ServiceAccount and its rights. In its namespace it makes the Secret of the certificates, and reads and writes that
 * one; of the cluster it reads the configurations that call it, and patches their caBundle. `create` cannot be limited to a
 * name (Kubernetes, "Using RBAC Authorization"); `list` and `watch` are, for a watch of the one name.
 */
export function accessManifests(plan: Plan): ValueMap[] {
  const { name, namespace } = plan;
  const metadata = { name, namespace, labels: labelsOf(plan) };
  const subjects = [{ kind: "ServiceAccount", name, namespace }];
  const clusterName = `${name}-${namespace}`;
  const clusterMetadata = { name: clusterName, labels: labelsOf(plan) };
  return [
    { apiVersion: "v1", kind: "ServiceAccount", metadata },
    {
      apiVersion: `${GROUP}/v1`,
      kind: "Role",
      metadata,
      rules: [
        { apiGroups: [""], resources: ["secrets"], verbs: ["create"] },
        {
          apiGroups: [""],
          resources: ["secrets"],
          resourceNames: [plan.secret],
          verbs: ["get", "list", "watch", "update"],
        },
      ],
    },
    {
      apiVersion: `${GROUP}/v1`,
      kind: "RoleBinding",
      metadata,
      roleRef: { apiGroup: GROUP, kind: "Role", name },
      subjects,
    },
    {
      apiVersion: `${GROUP}/v1`,
      kind: "ClusterRole",
      metadata: clusterMetadata,
      rules: [{
        apiGroups: ["admissionregistration.k8s.io"],
        resources: ["mutatingwebhookconfigurations"],
        resourceNames: configurationNames(plan),
        verbs: ["get", "list", "watch", "patch"],
      }],
    },
    {
      apiVersion: `${GROUP}/v1`,
      kind: "ClusterRoleBinding",
      metadata: clusterMetadata,
      roleRef: { apiGroup: GROUP, kind: "ClusterRole", name: clusterName },
      subjects,
    },
  ];
}
