/** A cluster with a healthy mesh: this program's webhook behind a Service, a node, and an injected pod. */
import assert from "node:assert/strict";
import { connect, type KubeConnection } from "../../../../src/kube/client/mod.ts";
import { realWorld } from "../../../../src/platform/mod.ts";
import { isMap, type Value, type ValueMap } from "../../../../src/base/value.ts";
import { BUILT_IN, containersOf } from "../../../../src/inject/mod.ts";
import type { ManifestOptions } from "../../../../src/webhook/mod.ts";
import type { TestCertificate } from "../../../support/tls/certificates.ts";
import { meshObjects } from "../../../support/kube/mesh_webhooks.ts";
import { type Cluster, startCluster } from "../../support/cluster/cluster.ts";
import { addServiceAccount, created, createNamespace, removed, reported } from "../../support/cluster/requests.ts";
import { until } from "../../../support/until.ts";
import { apply, kubectl, startWebhook, triedStatus, type WebhookProcess } from "../../support/webhook.ts";
import { type Authority, makeAuthority } from "./certificates.ts";
import { type Results, resultsWith } from "./results.ts";

/** The namespace of the control plane and of the webhook. */
export const CONTROL_PLANE = "istio-system";
export const WEBHOOK = "kubectl-mesh-webhook";
export const CONFIGURATION = "istio-sidecar-injector";
/** The flags of `webhook manifests` for the webhook's objects. */
export const FLAGS: readonly string[] = ["--image=example.com/kubectl-mesh:1", "--take-over"];

/** A cluster with a healthy mesh. */
export interface MeshCluster {
  readonly cluster: Cluster;
  /** The connection that all runs in this process share. */
  readonly api: KubeConnection;
  readonly webhook: WebhookProcess;
  readonly authority: Authority;
  /** The webhook's certificate, signed by the authority. */
  readonly certificate: TestCertificate;
  kubectl(...args: readonly string[]): Promise<string>;
  /** Applies an object. */
  apply(object: Value): Promise<void>;
  /** Registers the webhook correctly. `change` modifies each of its entries. */
  register(change?: (webhook: ValueMap) => ValueMap): Promise<void>;
  results(): Promise<Results>;
  stop(): Promise<void>;
}

/** Starts a mesh in the cluster that `start` returns. */
export async function startMesh(start: () => Promise<Cluster> = startCluster): Promise<MeshCluster> {
  const cluster = await start();
  const webhook = await startWebhook({ config: BUILT_IN.config, values: BUILT_IN.values, mesh: BUILT_IN.mesh })
    .catch(async (error) => {
      await cluster.stop();
      throw error;
    });
  const authority = makeAuthority();
  const api = await connect(realWorld(), { kubeconfig: cluster.kubeconfig });
  const mesh: MeshCluster = {
    cluster,
    api,
    webhook,
    authority,
    certificate: authority.sign(),
    kubectl: (...args) => kubectl(cluster, args),
    apply: (object) => apply(cluster, object),
    register: (change = (each) => each) => register(mesh, change),
    results: () => resultsWith(api),
    async stop() {
      api.close();
      await webhook.stop();
      await cluster.stop();
    },
  };
  try {
    await install(mesh);
    return mesh;
  } catch (error) {
    await mesh.stop();
    throw error;
  }
}

const VERSIONS = {
  ConfigMap: "v1",
  CronJob: "batch/v1",
  Deployment: "apps/v1",
  MutatingWebhookConfiguration: "admissionregistration.k8s.io/v1",
  Namespace: "v1",
  Service: "v1",
} as const;

/** The name of an object, for requests that change, read or delete it. */
export function objectNamed(kind: keyof typeof VERSIONS, name: string, namespace?: string): ValueMap {
  return { apiVersion: VERSIONS[kind], kind, metadata: { name, ...namespace !== undefined && { namespace } } };
}

/** The ConfigMap that istiod writes to each namespace. */
export function rootCertificateIn(namespace: string): ValueMap {
  return { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "istio-ca-root-cert", namespace }, data: {} };
}

async function install(mesh: MeshCluster): Promise<void> {
  const { cluster } = mesh;
  for (const name of [CONTROL_PLANE, "plain"]) await createNamespace(cluster, name);
  await createNamespace(cluster, "mesh", { "istio-injection": "enabled" });
  await addServiceAccount(cluster, "kube-system");
  for (const name of [CONTROL_PLANE, "mesh", "plain"]) await mesh.apply(rootCertificateIn(name));
  await installWebhook(mesh);
  await mesh.apply(NODE);
  await setKubelet(mesh, "v1.34.1");
  await runPod(mesh, podOf("cart"));
}

/**
 * Installs a webhook on this machine behind a Service, with the objects of `webhook manifests`, and waits until it
 * injects into the namespace `mesh`. The pods of its Deployment do not exist.
 */
export async function installWebhook(
  mesh: Pick<MeshCluster, "cluster" | "webhook" | "authority" | "certificate">,
  options: Partial<ManifestOptions> = {},
): Promise<void> {
  const { cluster, webhook, certificate } = mesh;
  await webhook.certify(certificate);
  const own = meshObjects({ flags: FLAGS, ...options }).filter(({ kind }) =>
    !["MutatingWebhookConfiguration", "Service"].includes(kind)
  );
  const others = [secretOf(certificate), serviceTo(webhook.port), endpointsOf(["ready"], webhook.port)];
  for (const object of [...own, ...others, ...configurationsOf(mesh)]) await apply(cluster, { ...object });
  const isInjected = async () => await triedStatus(cluster, podOf("cart")) !== undefined;
  await until(isInjected, "Never: the webhook injects");
}

/** The Secret that stores the webhook's certificate. */
export function secretOf({ certificate, key }: Pick<TestCertificate, "certificate" | "key">): ValueMap {
  const metadata = { name: `${WEBHOOK}-certificates`, namespace: CONTROL_PLANE };
  return { apiVersion: "v1", kind: "Secret", metadata, data: { "tls.crt": btoa(certificate), "tls.key": btoa(key) } };
}

/**
 * A Service that the API server resolves to this machine: there is no kube-proxy, and endpoints must not be loopback
 * addresses.
 */
export function serviceTo(port: number): ValueMap {
  const metadata = { name: WEBHOOK, namespace: CONTROL_PLANE };
  const spec = { type: "ExternalName", externalName: "localhost", ports: [{ name: "https-webhook", port }] };
  return { apiVersion: "v1", kind: "Service", metadata, spec };
}

/** Replaces the Service with one that leads to the webhook on this machine, because there is no kube-proxy. */
export async function routedHere(mesh: MeshCluster): Promise<void> {
  await removed(mesh.cluster, serviceTo(0));
  await mesh.apply(serviceTo(mesh.webhook.port));
}

/** The EndpointSlice that a controller would write. */
export function endpointsOf(states: readonly ("ready" | "waiting")[], port: number): ValueMap {
  const labels = { "kubernetes.io/service-name": WEBHOOK };
  return {
    apiVersion: "discovery.k8s.io/v1",
    kind: "EndpointSlice",
    metadata: { name: `${WEBHOOK}-a`, namespace: CONTROL_PLANE, labels },
    addressType: "IPv4",
    endpoints: states.map((state, index) => ({
      addresses: [`10.1.0.${index + 1}`],
      conditions: { ready: state === "ready" },
    })),
    ports: [{ name: "https-webhook", port, protocol: "TCP" }],
  };
}

const NODE = { apiVersion: "v1", kind: "Node", metadata: { name: "node-1" } };
const NODE_INFO = {
  architecture: "amd64",
  bootID: "",
  containerRuntimeVersion: "",
  kernelVersion: "",
  kubeProxyVersion: "",
  machineID: "",
  operatingSystem: "linux",
  osImage: "",
  systemUUID: "",
};

/** Sets the version of the node's kubelet. */
export function setKubelet(
  { cluster }: Pick<MeshCluster, "cluster">,
  kubeletVersion: string,
  node = NODE,
): Promise<void> {
  return reported(cluster, node, { nodeInfo: { ...NODE_INFO, kubeletVersion } });
}

/** Differences from a healthy pod. */
export interface PodParts {
  readonly namespace?: string;
  readonly labels?: Readonly<Record<string, string>>;
  readonly metadata?: ValueMap;
  readonly spec?: ValueMap;
  readonly container?: ValueMap;
}

/** An application's pod. */
export function podOf(name: string, parts: PodParts = {}): ValueMap {
  const { namespace = "mesh", labels = {}, metadata = {}, spec = {}, container = {} } = parts;
  return {
    apiVersion: "v1",
    kind: "Pod",
    metadata: { ...metadata, name, namespace, labels: { ...labels } },
    spec: {
      automountServiceAccountToken: false,
      containers: [{ name: "app", image: "example.com/app:1", ...container }],
      ...spec,
    },
  };
}

/** Additional status of the proxy, of the other containers, and of the pod. */
export interface Reports {
  readonly status?: ValueMap | undefined;
  readonly proxy?: ValueMap | undefined;
  readonly others?: ValueMap | undefined;
}

/** Creates a pod and sets the status of a running pod. */
export async function runPod(
  mesh: MeshCluster,
  pod: ValueMap,
  reports: Reports | ((made: ValueMap) => Reports) = {},
): Promise<void> {
  const made = await created(mesh.cluster, pod);
  const { proxy, others, status } = typeof reports === "function" ? reports(made) : reports;
  const report = ({ name = "", image = "" }: ValueMap): ValueMap => ({
    name,
    image,
    imageID: "",
    ready: true,
    restartCount: 0,
    state: { running: {} },
    ...(name === "istio-proxy" ? proxy : others),
  });
  const containerStatuses = containersOf(made, "containers").map(report);
  const native = containersOf(made, "initContainers").filter(({ restartPolicy }) => restartPolicy === "Always");
  const initContainerStatuses = native.map(report);
  const whole = { phase: "Running", containerStatuses, initContainerStatuses, ...status };
  await reported(mesh.cluster, pod, whole);
}

/** Deletes a pod immediately, because there is no kubelet. */
export function removePod({ cluster }: MeshCluster, name: string, namespace = "mesh"): Promise<void> {
  return removed(cluster, podOf(name, { namespace }));
}

async function register(mesh: MeshCluster, change: (webhook: ValueMap) => ValueMap): Promise<void> {
  for (const configuration of configurationsOf(mesh, change)) await mesh.apply(configuration);
}

/** The MutatingWebhookConfiguration from `webhook manifests`, with this port and authority. */
export function configurationsOf(
  { webhook, authority }: Pick<MeshCluster, "webhook" | "authority">,
  change: (webhook: ValueMap) => ValueMap = (each) => each,
): readonly ValueMap[] {
  const service = { namespace: CONTROL_PLANE, name: WEBHOOK, port: webhook.port, path: "/inject" };
  const clientConfig = { service, caBundle: btoa(authority.pem) };
  const all = meshObjects({ flags: FLAGS }).filter(({ kind }) => kind === "MutatingWebhookConfiguration");
  return all.map(({ webhooks, ...rest }) => {
    assert(Array.isArray(webhooks));
    return { ...rest, webhooks: webhooks.filter(isMap).map((each) => change({ ...each, clientConfig })) };
  });
}
