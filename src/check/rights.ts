/** The rights that the inventory needs, as Roles. A test verifies that the inventory uses exactly these rights. */
import { toYaml } from "../yaml/mod.ts";
import { GATEWAY_CRDS } from "./inventory/gateway_crds.ts";
import type { ValueMap } from "../base/value.ts";

export interface Right {
  /** The API group; `""` is the core group. */
  readonly group: string;
  readonly resources: readonly string[];
  readonly verbs: readonly string[];
  readonly names?: readonly string[];
  /** The right is needed only in the control plane's namespace. */
  readonly inControlPlane?: true;
  /** The name of the separate, optional role for a right that allows more than the checks use. */
  readonly apart?: keyof typeof APART;
}

/** The namespace and the revision that the rights apply to. */
export interface RightsScope {
  readonly istioNamespace: string;
  /** The revision of the control plane; `undefined` for the unnamed revision. */
  readonly revision: string | undefined;
}

const READ = ["get", "list"];

/** Returns the rights in the order of the output. Kinds with only `get` are read by known names. */
export function rightsFor({ revision = "default" }: Pick<RightsScope, "revision">): readonly Right[] {
  const webhook = revision === "default" ? "kubectl-mesh-webhook" : `kubectl-mesh-webhook-${revision}`;
  return [
    { group: "", resources: ["namespaces"], verbs: READ },
    { group: "", resources: ["nodes", "resourcequotas", "limitranges", "events"], verbs: ["list"] },
    { group: "", resources: ["pods"], verbs: READ },
    { group: "", resources: ["services"], verbs: ["list"] },
    { group: "", resources: ["pods"], verbs: ["create"], apart: "dry-run" },
    { group: "", resources: ["pods/exec"], verbs: ["get", "create"], apart: "exec" },
    { group: "", resources: ["replicationcontrollers"], verbs: ["get"] },
    { group: "apps", resources: ["deployments", "statefulsets", "daemonsets"], verbs: READ },
    { group: "apps", resources: ["replicasets"], verbs: ["get"] },
    { group: "batch", resources: ["jobs", "cronjobs"], verbs: READ },
    {
      group: "admissionregistration.k8s.io",
      resources: ["mutatingwebhookconfigurations", "validatingwebhookconfigurations"],
      verbs: ["list"],
    },
    {
      group: "apiextensions.k8s.io",
      resources: ["customresourcedefinitions"],
      verbs: ["list"],
      names: GATEWAY_CRDS,
    },
    { group: "apiregistration.k8s.io", resources: ["apiservices"], verbs: ["list"] },
    { group: "", resources: ["configmaps", "services", "endpoints"], verbs: ["get"], inControlPlane: true },
    { group: "", resources: ["configmaps"], verbs: READ, names: ["istio-ca-root-cert"] },
    { group: "discovery.k8s.io", resources: ["endpointslices"], verbs: ["list"], inControlPlane: true },
    {
      group: "",
      resources: ["secrets"],
      verbs: ["get"],
      names: ["cacerts", "istio-ca-secret", `${webhook}-certificates`],
      inControlPlane: true,
      apart: "secrets",
    },
    { group: "", resources: ["secrets"], verbs: ["get"], apart: "pull-secrets" },
    { group: "argoproj.io", resources: ["applications"], verbs: ["list"], apart: "argo-cd" },
  ];
}

/** Non-resource URLs that the checks read. */
export const PATHS: readonly string[] = ["/apis", "/version"];

const RBAC = "rbac.authorization.k8s.io/v1";
const NAME = "kubectl-mesh-check";

const HEAD =
  `# The rights of "kubectl mesh check": a ClusterRole, a Role in the control plane's namespace, and five optional roles.
# The checks only read. Without a right, the checks that need the right are unknown, and the other checks run.
#
#   kubectl mesh check --rbac | kubectl apply -f -
`;

/** Separate roles, because RBAC cannot restrict a right to dry runs, or to keys of a Secret. */
const APART = {
  "dry-run":
    `# Optional, for users who may create pods: "webhook-reachable", "webhook-chain", "pod-admission" and "check injection"
# create pods as dry runs, and RBAC cannot allow only dry runs. Without this role these checks are unknown. A RoleBinding
# in one injected namespace is enough, together with "check -n" for that namespace.
#
`,
  exec:
    `# Optional, for users who may run commands in pods: "proxy-synchronised" queries proxies that are not ready for their state,
# as "kubectl mesh explain" does. A WebSocket is a GET request, for which newer API servers also require "create".
# Without this role the check is unknown if a proxy is not ready.
#
`,
  secrets:
    `# Optional, for users who may read private keys: these Secrets contain keys besides the certificates that are compared
# with the caBundle, and RBAC cannot grant single keys of a Secret. Without this role the check compares the ConfigMap
# istio-ca-root-cert. If it does not exist, "webhook-certificate" is unknown; "webhook-reachable" verifies the certificate.
#
`,
  "pull-secrets":
    `# Optional, for users who may read all Secrets: "namespace-pull-secrets" checks whether the Secrets of
# global.imagePullSecrets exist in injected namespaces. Without this role the check is unknown if the values name Secrets.
#
`,
  "argo-cd":
    `# Optional, for users who may read the Applications of Argo CD: "webhook-gitops" prints a command to change them. Without
# this role the advice contains no command.
#
`,
} as const;

export function rbacText(scope: RightsScope): string {
  const { istioNamespace: namespace } = scope;
  const rights = rightsFor(scope);
  const text = (name: string, of: readonly Right[], head: string) => {
    const isNamespaced = of.some(({ inControlPlane }) => inControlPlane === true);
    const paths = head === HEAD ? [{ nonResourceURLs: [...PATHS], verbs: ["get"] }] : [];
    const rules = [...of.map(rule), ...paths];
    const manifest = isNamespaced
      ? { apiVersion: RBAC, kind: "Role", metadata: { name, namespace }, rules }
      : { apiVersion: RBAC, kind: "ClusterRole", metadata: { name }, rules };
    const bind = isNamespaced
      ? `kubectl create rolebinding -n ${namespace} ${name} --role=${name} --user=NAME`
      : `kubectl create clusterrolebinding ${name} --clusterrole=${name} --user=NAME`;
    return `${head}#   ${bind}\n${toYaml(manifest)}`;
  };
  const usual = rights.filter(({ apart }) => apart === undefined);
  return [
    text(NAME, usual.filter(({ inControlPlane }) => inControlPlane !== true), HEAD),
    text(NAME, usual.filter(({ inControlPlane }) => inControlPlane === true), ""),
    ...Object.entries(APART).map(([word, head]) => {
      return text(`${NAME}-${word}`, rights.filter(({ apart }) => apart === word), head);
    }),
  ].join("---\n");
}

function rule({ group, resources, verbs, names }: Right): ValueMap {
  const named = names === undefined ? {} : { resourceNames: [...names] };
  return { apiGroups: [group], resources: [...resources], ...named, verbs: [...verbs] };
}
