/** The objects of the cluster: namespaces, accounts, pods, services, and where a service's pods are. */
import type { Family } from "../../iptables/support/pod.ts";
import type { RunningPod } from "./kubelet/kubelet.ts";

/** The namespace of the pods. */
export const NAMESPACE = "mesh";

/** How two pods differ from other pairs. */
export interface Shape {
  /** The name of their service; their own names are `NAME-a` and `NAME-b`. */
  readonly name: string;
  readonly annotations?: Readonly<Record<string, string>>;
  /** The primary family first; by default only IPv4. */
  readonly families?: readonly Family[];
  /** The number of a pod that replaces another one. */
  readonly number?: number;
  /** The pods belong to the Deployments `NAME-a` and `NAME-b`. */
  readonly isDeployed?: boolean;
}

/** An object, and where it is created. */
export interface Made {
  readonly path: string;
  readonly body: object;
}

/** The identity of one of the pods. */
export function spiffe(pod: "a" | "b"): string {
  return `spiffe://cluster.local/ns/${NAMESPACE}/sa/${pod}`;
}

/** The objects that exist before the pods. Mutual TLS is strict. */
export function objectsOf(): Made[] {
  const namespace = (name: string, labels = {}) => ({
    path: "/api/v1/namespaces",
    body: { apiVersion: "v1", kind: "Namespace", metadata: { name, labels } },
  });
  const account = (name: string) => ({
    path: `/api/v1/namespaces/${NAMESPACE}/serviceaccounts`,
    body: { apiVersion: "v1", kind: "ServiceAccount", metadata: { name } },
  });
  return [
    namespace("istio-system"),
    namespace(NAMESPACE, { "istio-injection": "enabled" }),
    ...["default", "a", "b"].map(account),
    ...["PeerAuthentication", "AuthorizationPolicy"].map((kind) => definition(kind, SECURITY)),
    {
      path: `/apis/${SECURITY}/v1/namespaces/${NAMESPACE}/peerauthentications`,
      body: {
        apiVersion: `${SECURITY}/v1`,
        kind: "PeerAuthentication",
        metadata: { name: "strict" },
        spec: { mtls: { mode: "STRICT" } },
      },
    },
  ];
}

/** A rule that denies this path of the service of `b`. */
export function denial(name: string, path: string): Made {
  return {
    path: `/apis/${SECURITY}/v1/namespaces/${NAMESPACE}/authorizationpolicies`,
    body: {
      apiVersion: `${SECURITY}/v1`,
      kind: "AuthorizationPolicy",
      metadata: { name },
      spec: {
        selector: { matchLabels: { app: `${name}-b` } },
        action: "DENY",
        rules: [{
          from: [{ source: { principals: [spiffe("a").replace("spiffe://", "")] } }],
          to: [{ operation: { paths: [path] } }],
        }],
      },
    },
  };
}

const SECURITY = "security.istio.io";

/** The definition of a kind of Istio's API. Istiods before 1.22 read its old version. */
export function definition(kind: string, group: string, versions: readonly string[] = ["v1", "v1beta1"]): Made {
  const singular = kind.toLowerCase();
  const plural = singular.replace(/([^aeiou])y$/, "$1ie") + "s";
  const schema = { openAPIV3Schema: { type: "object", "x-kubernetes-preserve-unknown-fields": true } };
  return {
    path: "/apis/apiextensions.k8s.io/v1/customresourcedefinitions",
    body: {
      apiVersion: "apiextensions.k8s.io/v1",
      kind: "CustomResourceDefinition",
      metadata: { name: `${plural}.${group}` },
      spec: {
        group,
        names: { kind, plural, singular, listKind: `${kind}List` },
        scope: "Namespaced",
        versions: versions.map((name, index) => ({ name, served: true, storage: index === 0, schema })),
      },
    },
  };
}

/** A pod with an application, which asks for injection by its namespace. */
export function podOf(name: "a" | "b", shape: Shape): Made {
  const labels = { app: `${shape.name}-${name}` };
  return {
    path: `/api/v1/namespaces/${NAMESPACE}/pods`,
    body: {
      apiVersion: "v1",
      kind: "Pod",
      metadata: {
        name: `${shape.name}-${name}${shape.number ?? ""}`,
        namespace: NAMESPACE,
        labels,
        annotations: shape.annotations ?? {},
        ...shape.isDeployed === true ? ofReplicaSet(labels) : {},
      },
      spec: { ...specOf(name), nodeName: "machine" },
    },
  };
}

function specOf(name: "a" | "b") {
  const containers = [{ name: "app", image: "app:1", ports: [{ containerPort: 8080 }] }];
  return { serviceAccountName: name, automountServiceAccountToken: false, containers };
}

/** Metadata of a pod that a Deployment's ReplicaSet made. */
function ofReplicaSet({ app }: { readonly app: string }) {
  const hash = "7d4b9c5f6";
  const owner = { apiVersion: "apps/v1", kind: "ReplicaSet", name: `${app}-${hash}`, controller: true };
  return {
    generateName: `${app}-${hash}-`,
    labels: { app, "pod-template-hash": hash },
    ownerReferences: [{ ...owner, uid: crypto.randomUUID() }],
  };
}

/** The Deployment of pods with `isDeployed`. No controller makes its pods. */
export function deploymentOf(name: "a" | "b", shape: Shape): Made {
  const labels = { app: `${shape.name}-${name}` };
  return {
    path: `/apis/apps/v1/namespaces/${NAMESPACE}/deployments`,
    body: {
      apiVersion: "apps/v1",
      kind: "Deployment",
      metadata: { name: `${shape.name}-${name}` },
      spec: { selector: { matchLabels: labels }, template: { metadata: { labels }, spec: specOf(name) } },
    },
  };
}

/** The service of `b`, and the name by which pods call it. */
export function serviceOf(shape: Shape): Made & { readonly name: string } {
  const families = (shape.families ?? [4]).map((family) => `IPv${family}`);
  return {
    name: `${shape.name}.${NAMESPACE}`,
    path: `/api/v1/namespaces/${NAMESPACE}/services`,
    body: {
      apiVersion: "v1",
      kind: "Service",
      metadata: { name: shape.name },
      spec: {
        selector: { app: `${shape.name}-b` },
        ipFamilies: families,
        ipFamilyPolicy: families.length > 1 ? "RequireDualStack" : "SingleStack",
        ports: [{ name: "http", port: 8080, targetPort: 8080 }],
      },
    },
  };
}

/** The EndpointSlices of the service, one for each family: there is no controller that writes them. */
export function slicesOf(shape: Pick<Shape, "name">, { options: { pod, network } }: RunningPod): Made[] {
  return network.addresses.map((address) => {
    const addressType = address.includes(":") ? "IPv6" : "IPv4";
    const { name, namespace, uid } = pod.metadata;
    return {
      path: `/apis/discovery.k8s.io/v1/namespaces/${namespace}/endpointslices`,
      body: {
        apiVersion: "discovery.k8s.io/v1",
        kind: "EndpointSlice",
        metadata: {
          name: `${shape.name}-${addressType.toLowerCase()}`,
          labels: { "kubernetes.io/service-name": shape.name },
        },
        addressType,
        endpoints: [{
          addresses: [address],
          conditions: { ready: true, serving: true, terminating: false },
          targetRef: { kind: "Pod", name, namespace, uid },
        }],
        ports: [{ name: "http", port: 8080, protocol: "TCP" }],
      },
    };
  });
}
