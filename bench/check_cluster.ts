/**
 * A cluster to check: so many namespaces and pods with the proxy of the built-in configuration, each as large as an API
 * server gives it, with what its defaults, its kubelet and its managed fields add.
 */
import { testCertificate } from "../test/support/tls/certificates.ts";
import { clusterApi, object } from "../test/support/kube/cluster.ts";
import { meshObjects } from "../test/support/kube/mesh_webhooks.ts";
import { webhookEndpoints, withBundle } from "../test/support/kube/webhook_check.ts";
import type { CheckApi } from "../src/check/inventory/mod.ts";
import type { KubeObject } from "../src/core/kube/client/mod.ts";
import { isList, isMap, newMap, type Value, type ValueMap } from "../src/core/value.ts";
import { configurationOf, injectPod, newInjector, podOwner } from "../src/inject/mod.ts";

/** How much there is of it. */
export interface Size {
  readonly namespaces: number;
  /** Pods in each. */
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

/** Its API: what is there, and pods that come back with a proxy from a dry run. */
export function clusterOf({ namespaces, pods }: Size): CheckApi {
  const names = Array.from({ length: namespaces }, (_, index) => `shop-${index}`);
  // No two workloads are alike: checks keep equal parts of pods once.
  const apps = (namespace: string) =>
    Array.from({ length: Math.ceil(pods / REPLICAS) }, (_, index) => `${namespace}-cart-${index}`);
  const replicas = (namespace: string) =>
    Array.from({ length: pods }, (_, index) => apps(namespace)[index % apps(namespace).length] ?? "");
  return clusterApi({
    objects: [
      ...controlPlane(),
      ...["default", "kube-system", "istio-system"].map((name) => namespaceOf(name, {})),
      ...Array.from({ length: NODES }, (_, index) => nodeOf(`node-${index}`)),
      ...names.map((name) => namespaceOf(name, REVISION)),
      ...names.map((name) =>
        stored("v1", "ConfigMap", `${name}/istio-ca-root-cert`, { data: { "root-cert.pem": "" } })
      ),
      ...names.flatMap((namespace) => apps(namespace).map((app) => deploymentOf(namespace, app))),
      ...names.flatMap((namespace, index) =>
        replicas(namespace).map((app, number) => podOf(namespace, app, index + number))
      ),
    ],
    raw: {
      "/version": { gitVersion: "v1.34.1", major: "1", minor: "34" },
      "/apis": { groups: [{ name: "admissionregistration.k8s.io", versions: [{ groupVersion: ADMISSION }] }] },
    },
    dryRun: (namespace, pod) => injected(stored("v1", "Pod", `${namespace}/check`, { ...pod })),
  });
}

const ADMISSION = "admissionregistration.k8s.io/v1";

/** What `webhook manifests` prints, applied and running. */
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

function deploymentOf(namespace: string, app: string): KubeObject {
  const template = { metadata: { labels: { app } }, spec: applicationOf(app) };
  const spec = { replicas: REPLICAS, selector: { matchLabels: { app } }, template };
  return stored("apps/v1", "Deployment", `${namespace}/${app}`, { metadata: { labels: { app } }, spec });
}

function applicationOf(app: string): ValueMap {
  return {
    containers: [{
      name: app,
      image: `registry.example.com/shop/${app}:1.27.3`,
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
}

function podOf(namespace: string, app: string, number: number): KubeObject {
  const hash = "7d4b9c5f6";
  const owner = { apiVersion: "apps/v1", kind: "ReplicaSet", name: `${app}-${hash}`, uid: uid(), controller: true };
  const tolerations = ["not-ready", "unreachable"].map((name) => {
    return { key: `node.kubernetes.io/${name}`, operator: "Exists", effect: "NoExecute", tolerationSeconds: 300 };
  });
  const plain = object("v1", "Pod", `${namespace}/${app}-${hash}-${uid().slice(0, 5)}`, {
    metadata: {
      generateName: `${app}-${hash}-`,
      labels: { app, "pod-template-hash": hash },
      ownerReferences: [owner],
    },
    spec: { ...applicationOf(app), nodeName: `node-${number % NODES}`, serviceAccountName: "default", tolerations },
  });
  const { metadata, spec } = injected(plain);
  return stored("v1", "Pod", `${namespace}/${plain.metadata.name}`, {
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

/** As the kubelet reports a pod that runs. */
function statusOf(spec: Value | undefined): ValueMap {
  const containers = (key: string) => {
    const list = isMap(spec) ? spec[key] : undefined;
    return (isList(list) ? list : []).filter(isMap);
  };
  const report = (state: ValueMap) => ({ name = "", image = "" }: ValueMap): ValueMap => ({
    name,
    image,
    imageID: `registry.example.com/shop@sha256:${uid().repeat(2).replaceAll("-", "")}`,
    containerID: `containerd://${uid().repeat(2).replaceAll("-", "")}`,
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

/** An object as it is stored: with its uid, and who wrote which of its fields. */
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
  const own = { uid: uid(), resourceVersion: "4711", creationTimestamp: CREATED, managedFields };
  const whole = { ...(isMap(metadata) ? metadata : {}), ...own };
  return object(apiVersion, kind, name, { ...others, ...(status === undefined ? {} : { status }), metadata: whole });
}

/** FieldsV1 (Kubernetes, "Server-Side Apply"): fields by name, items by what tells them apart. */
function fieldsOf(value: Value): ValueMap {
  const fields = newMap();
  if (isMap(value)) { for (const [key, each] of Object.entries(value)) fields[`f:${key}`] = fieldsOf(each); }
  for (const item of isList(value) ? value.filter(isMap) : []) {
    const key = ["name", "type", "containerPort", "key"].find((each) => item[each] !== undefined) ?? "";
    fields[`k:${JSON.stringify({ [key]: item[key] })}`] = { ".": {}, ...fieldsOf(item) };
  }
  return fields;
}

function uid(): string {
  return crypto.randomUUID();
}
