/**
 * A cluster with a given number of namespaces, and pods with the proxy of the built-in configuration. Each object is as
 * large as a real API server returns it, with its defaults, its status and its managed fields.
 */
import { testCertificate } from "../../test/support/tls/certificates.ts";
import { clusterApi, object } from "../../test/support/kube/cluster.ts";
import { meshObjects } from "../../test/support/kube/mesh_webhooks.ts";
import { webhookEndpoints, withBundle } from "../../test/support/kube/webhook_check.ts";
import type { CheckApi } from "../../src/check/inventory/mod.ts";
import type { KubeObject } from "../../src/kube/client/mod.ts";
import { isList, isMap, newMap, type Value, type ValueMap } from "../../src/base/value.ts";
import { configurationOf, injectPod, newInjector, podOwner } from "../../src/inject/mod.ts";

/** The size of a cluster. */
export interface Size {
  readonly namespaces: number;
  /** The number of pods in each namespace. */
  readonly pods: number;
}

const REPLICAS = 5;
const NODES = 100;
const CREATED = "2026-01-01T08:00:00Z";
const REVISION = { "istio.io/rev": "default" };

const INJECTOR = newInjector({
  ...configurationOf({}),
  byHand: false,
  env: () => undefined,
  now: () => new Date(CREATED),
});

/** A collection for the whole cluster. Its items are generated when a page is requested. */
export interface Collection {
  readonly apiVersion: string;
  readonly kind: string;
  readonly length: number;
  /** Returns an item as JSON. */
  readonly textAt: (index: number) => string;
}

/** The cluster: its large collections by path, and the API for all other objects. */
export interface BenchCluster {
  readonly collections: ReadonlyMap<string, Collection>;
  /** Returns a namespace's ConfigMap with the root certificate as JSON. Older builds request these one by one. */
  readonly rootCertificateAt: (path: string) => string | undefined;
  /** The API. Its dry runs of pods return them with a proxy. */
  readonly api: CheckApi;
}

/** Placeholders in the text that objects are generated from. */
const NAMESPACE = "zz-namespace";
const APP = "zz-app";
const NODE = "zz-node";
const UID = "zz-uid";

/** Returns a cluster of a size. All workloads differ, because checks keep equal parts of pods only once. */
export function clusterOf({ namespaces, pods }: Size): BenchCluster {
  const others = otherObjects();
  const workloads = Math.ceil(pods / REPLICAS);
  const nameOf = (index: number) => `shop-${index}`;
  const numerous = (object: KubeObject, length: number, valuesAt: (index: number) => Values): Collection => {
    const { apiVersion, kind } = object;
    const few = others.filter((each) => each.apiVersion === apiVersion && each.kind === kind).map(itemText);
    const make = textOf(itemText(object));
    const textAt = (index: number) => few[index] ?? make(valuesAt(index - few.length));
    return { apiVersion, kind, length: few.length + length, textAt };
  };
  const inNamespace = (index: number, each: number): Values => {
    const namespace = nameOf(Math.floor(index / each));
    return { [NAMESPACE]: namespace, [APP]: `${namespace}-cart-${index % workloads}`, [NODE]: `node-${index % NODES}` };
  };
  const data = { "root-cert.pem": testCertificate(80n).certificate };
  const certificates = stored("v1", "ConfigMap", `${NAMESPACE}/istio-ca-root-cert`, { data });
  const rootCertificate = textOf(jsonOf(certificates));
  const namespace = (index: number) => ({ [NAMESPACE]: nameOf(index) });
  return {
    collections: new Map([
      ["/api/v1/configmaps", numerous(certificates, namespaces, namespace)],
      ["/api/v1/namespaces", numerous(namespaceOf(NAMESPACE, REVISION), namespaces, namespace)],
      [
        "/apis/apps/v1/deployments",
        numerous(deploymentOf(), namespaces * workloads, (index) => inNamespace(index, workloads)),
      ],
      ["/api/v1/pods", numerous(podOf(), namespaces * pods, (index) => inNamespace(index, pods))],
    ]),
    rootCertificateAt: (path) => {
      const name = ROOT_CERTIFICATES.exec(path)?.[1];
      return name === undefined ? undefined : rootCertificate({ [NAMESPACE]: name });
    },
    api: clusterApi({
      objects: others,
      raw: {
        "/version": { gitVersion: "v1.34.1", major: "1", minor: "34" },
        "/apis": { groups: [{ name: "admissionregistration.k8s.io", versions: [{ groupVersion: ADMISSION }] }] },
      },
      dryRun: (namespace, pod) => injected(stored("v1", "Pod", `${namespace}/check`, { ...pod })),
    }),
  };
}

/** The values for placeholders. Every uid is replaced with a new random one. */
type Values = Readonly<Record<string, string>>;

const PLACEHOLDERS = new RegExp([NAMESPACE, APP, NODE, UID].join("|"), "g");

/** Returns a function that fills in the placeholders of a text. */
function textOf(text: string): (values: Values) => string {
  return (values) => text.replaceAll(PLACEHOLDERS, (name) => values[name] ?? crypto.randomUUID());
}

/** The list states the type of its items, so items do not repeat it. */
function itemText({ apiVersion: _, kind: __, metadata, ...rest }: KubeObject): string {
  return jsonOf({ metadata, ...rest });
}

/** Returns a value as JSON. The injector's integers are all small enough for a number. */
export function jsonOf(value: unknown): string {
  return JSON.stringify(value, (_key, each) => typeof each === "bigint" ? Number(each) : each);
}

const ROOT_CERTIFICATES = /^\/api\/v1\/namespaces\/(shop-\d+)\/configmaps\/istio-ca-root-cert$/;

function otherObjects(): KubeObject[] {
  return [
    ...controlPlane(),
    ...["default", "kube-system", "istio-system"].map((name) => namespaceOf(name, {})),
    ...Array.from({ length: NODES }, (_, index) => nodeOf(`node-${index}`)),
  ];
}

const ADMISSION = "admissionregistration.k8s.io/v1";

/** The objects that `webhook manifests` prints, applied and running. */
function controlPlane(): KubeObject[] {
  const { certificate, authority } = testCertificate(80n);
  const name = "istio-system/kubectl-mesh-webhook-certificates";
  const command = ["kube-apiserver", "--enable-admission-plugins=NodeRestriction"];
  const labels = { component: "kube-apiserver" };
  return [
    ...meshObjects().filter(({ kind }) => kind !== "MutatingWebhookConfiguration"),
    withBundle(authority),
    webhookEndpoints(["ready"], "https-webhook"),
    stored("v1", "Secret", name, { data: { "tls.crt": btoa(certificate) } }),
    stored("v1", "Pod", "kube-system/kube-apiserver-a", {
      metadata: { labels },
      spec: { containers: [{ name: "kube-apiserver", command }] },
    }),
  ];
}

function namespaceOf(name: string, labels: Record<string, string>): KubeObject {
  const metadata = { labels: { "kubernetes.io/metadata.name": name, ...labels } };
  return stored("v1", "Namespace", name, {
    metadata,
    spec: { finalizers: ["kubernetes"] },
    status: { phase: "Active" },
  });
}

function nodeOf(name: string): KubeObject {
  const status = { nodeInfo: { kubeletVersion: "v1.34.1" }, capacity: { cpu: "16", memory: "64Gi", pods: "110" } };
  return stored("v1", "Node", name, { status });
}

function deploymentOf(): KubeObject {
  const labels = { app: APP };
  const spec = { replicas: REPLICAS, selector: { matchLabels: labels }, template: { metadata: { labels }, spec: POD } };
  return stored("apps/v1", "Deployment", `${NAMESPACE}/${APP}`, { metadata: { labels }, spec });
}

/** An application's pod. */
const POD: ValueMap = {
  containers: [{
    name: APP,
    image: `registry.example.com/shop/${APP}:1.27.3`,
    imagePullPolicy: "IfNotPresent",
    ports: [{ name: "http", containerPort: 8080, protocol: "TCP" }],
    env: Array.from({ length: 8 }, (_, index) => ({ name: `SETTING_${index}`, value: `http://settings/${index}` })),
    resources: { requests: { cpu: "100m", memory: "128Mi" }, limits: { cpu: "1", memory: "512Mi" } },
    readinessProbe: { httpGet: { path: "/ready", port: 8080, scheme: "HTTP" }, periodSeconds: 10 },
    livenessProbe: { httpGet: { path: "/healthz", port: 8080, scheme: "HTTP" }, periodSeconds: 10 },
  }],
  restartPolicy: "Always",
  terminationGracePeriodSeconds: 30,
  dnsPolicy: "ClusterFirst",
};

function podOf(): KubeObject {
  const hash = "7d4b9c5f6";
  const owner = { apiVersion: "apps/v1", kind: "ReplicaSet", name: `${APP}-${hash}`, uid: UID, controller: true };
  const tolerations = ["not-ready", "unreachable"].map((name) => {
    return { key: `node.kubernetes.io/${name}`, operator: "Exists", effect: "NoExecute", tolerationSeconds: 300 };
  });
  const plain = object("v1", "Pod", `${NAMESPACE}/${APP}-${hash}-${UID}`, {
    metadata: {
      generateName: `${APP}-${hash}-`,
      labels: { app: APP, "pod-template-hash": hash },
      ownerReferences: [owner],
    },
    spec: { ...POD, nodeName: NODE, serviceAccountName: "default", tolerations },
  });
  const { metadata, spec } = injected(plain);
  return stored("v1", "Pod", `${NAMESPACE}/${plain.metadata.name}`, {
    metadata,
    spec: spec ?? {},
    status: statusOf(spec),
  });
}

function injected(pod: KubeObject): KubeObject {
  const { metadata, spec } = injectPod({ ...pod }, podOwner({ ...pod }, pod.metadata.namespace ?? ""), INJECTOR).pod;
  const { namespace = "", name } = pod.metadata;
  return object("v1", "Pod", `${namespace}/${name}`, { metadata: metadata ?? {}, spec: spec ?? {} });
}

/** The status that the kubelet reports for a running pod. */
function statusOf(spec: Value | undefined): ValueMap {
  const containers = (key: string) => {
    const list = isMap(spec) ? spec[key] : undefined;
    return (isList(list) ? list : []).filter(isMap);
  };
  const report = (state: ValueMap) => ({ name = "", image = "" }: ValueMap): ValueMap => ({
    name,
    image,
    imageID: `registry.example.com/shop@sha256:${UID}${UID}`,
    containerID: `containerd://${UID}${UID}`,
    ready: true,
    started: true,
    restartCount: 0,
    state,
    lastState: {},
  });
  const types = ["PodReadyToStartContainers", "Initialized", "Ready", "ContainersReady", "PodScheduled"];
  return {
    phase: "Running",
    qosClass: "Burstable",
    hostIP: "192.168.4.7",
    podIP: "10.12.3.4",
    podIPs: [{ ip: "10.12.3.4" }],
    startTime: CREATED,
    conditions: types.map((type) => ({ type, status: "True", lastProbeTime: null, lastTransitionTime: CREATED })),
    containerStatuses: containers("containers").map(report({ running: { startedAt: CREATED } })),
    initContainerStatuses: containers("initContainers").map(report(
      { terminated: { exitCode: 0, reason: "Completed", startedAt: CREATED, finishedAt: CREATED } },
    )),
  };
}

/** An object as the API server stores it: with its uid, and with the managers of its fields. */
function stored(apiVersion: string, kind: string, name: string, rest: Record<string, Value>): KubeObject {
  const { status, metadata, ...others } = rest;
  const common = { operation: "Update", apiVersion, time: CREATED, fieldsType: "FieldsV1" };
  const written = { ...others, metadata: metadata ?? {} };
  const managedFields = [
    { ...common, manager: "kube-controller-manager", fieldsV1: fieldsOf(written) },
    ...(status === undefined
      ? []
      : [{ ...common, manager: "kubelet", fieldsV1: fieldsOf({ status }), subresource: "status" }]),
  ];
  const own = { uid: UID, resourceVersion: "4711", creationTimestamp: CREATED, managedFields };
  const whole = { ...(isMap(metadata) ? metadata : {}), ...own };
  return object(apiVersion, kind, name, { ...others, ...(status === undefined ? {} : { status }), metadata: whole });
}

/** Returns FieldsV1 (Kubernetes, "Server-Side Apply"): fields by name, list items by their merge keys. */
function fieldsOf(value: Value): ValueMap {
  const fields = newMap();
  if (isMap(value)) { for (const [key, each] of Object.entries(value)) fields[`f:${key}`] = fieldsOf(each); }
  for (const item of isList(value) ? value.filter(isMap) : []) {
    const key = ["name", "type", "containerPort", "key"].find((each) => item[each] !== undefined) ?? "";
    fields[`k:${JSON.stringify({ [key]: item[key] })}`] = { ".": {}, ...fieldsOf(item) };
  }
  return fields;
}
