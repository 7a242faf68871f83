/** Our own cases for Istio 1.1 and 1.8: manifests as files, and pods in reviews to the webhook. */
import { APP, type Data, deployment, type Parts, pod, text, workload } from "../inject/own/case.ts";
import { CONFIG_1_1, CONFIG_1_8, VALUES_1_8 } from "./configs.ts";

/** The releases that answer the questions. */
export type Release = "1.1" | "1.8";

/** A question to a release. */
export interface LegacyCase {
  readonly name: string;
  readonly release: Release;
  readonly config: string;
  /** The values; empty for 1.1, which has none. */
  readonly values: string;
  readonly mesh: string;
  /** Manifests, or a pod as JSON for the webhook. */
  readonly manifest: string;
  readonly review: boolean;
}

const BOTH: readonly Release[] = ["1.1", "1.8"];

function file(
  name: string,
  manifest: string,
  { on = BOTH, values = {}, mesh = {} }: { on?: readonly Release[]; values?: Data; mesh?: Data } = {},
): LegacyCase[] {
  return on.map((release) => ({
    name: `${name}, ${release}`,
    release,
    config: release === "1.1" ? CONFIG_1_1 : CONFIG_1_8,
    values: release === "1.1" ? "" : JSON.stringify(merged(VALUES_1_8, values)),
    mesh: JSON.stringify({ defaultConfig: { ...SETTINGS, ...mesh } }),
    manifest,
    review: false,
  }));
}

/** Settings whose defaults have changed since these releases. */
const SETTINGS: Data = { drainDuration: "45s", discoveryAddress: "istio-pilot:15010", concurrency: 2 };

function merged(below: unknown, above: unknown): unknown {
  if (!isData(below) || !isData(above)) return above;
  const result: Record<string, unknown> = { ...below };
  for (const [key, value] of Object.entries(above)) result[key] = merged(below[key], value);
  return result;
}

function isData(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

const http = (port: string | number, more: Data = {}): Data => ({ httpGet: { path: "/live", port, ...more } });
const on = (annotations: Data) => deployment({ annotations });
const SERVICE = { apiVersion: "v1", kind: "Service", metadata: { name: "shop" }, spec: { ports: [{ port: 80 }] } };
const values = (proxy: Data, global: Data = {}): Data => ({ global: { ...global, proxy } });

const KINDS = [
  "Deployment",
  "DaemonSet",
  "Job",
  "StatefulSet",
  "ReplicaSet",
  "ReplicationController",
  "DeploymentConfig",
];

const FILES: readonly LegacyCase[] = [
  ...KINDS.flatMap((kind) => file(`a ${kind}`, text(workload(kind)))),
  ...file("a Pod", text(pod()), { on: ["1.8"] }),
  ...file("a Service", text(SERVICE)),
  ...file(
    "two Deployments",
    text(workload("Deployment", {}, { name: "a" }), workload("Deployment", {}, { name: "b" })),
  ),
  ...file("a List", text({ apiVersion: "v1", kind: "List", items: [SERVICE, workload("Deployment")] })),
  // kube-inject of 1.1 injects anyway.
  ...file("injection is off", on({ "sidecar.istio.io/inject": "false" }), { on: ["1.8"] }),
  ...file("an image", on({ "sidecar.istio.io/proxyImage": "example.com/mine:3" })),
  ...file("a label of the TLS mode", deployment({ labels: { app: "shop", "security.istio.io/tlsMode": "disabled" } })),
  // kube-inject of 1.8 fails if there are no labels.
  ...file("no labels", deployment({ labels: {} }), { on: ["1.1"] }),
  ...file(
    "init containers",
    deployment({ spec: { initContainers: [{ name: "one", image: "i" }, { name: "two", image: "i" }] } }),
  ),
  ...file(
    "probes",
    deployment({
      containers: [{
        ...APP,
        readinessProbe: http("web"),
        livenessProbe: {
          ...http(8000, { httpHeaders: [{ name: "A", value: "b" }] }),
          timeoutSeconds: 7,
        },
      }, { name: "other", image: "o", livenessProbe: { exec: { command: ["true"] } } }],
    }),
  ),
  ...file(
    "all annotations of traffic",
    on({
      "traffic.sidecar.istio.io/includeOutboundIPRanges": "10.0.0.0/8",
      "traffic.sidecar.istio.io/excludeOutboundIPRanges": "10.9.0.0/16",
      "traffic.sidecar.istio.io/includeInboundPorts": "80,443",
      "traffic.sidecar.istio.io/excludeInboundPorts": "8081",
    }),
  ),
  ...file(
    "wildcards of traffic",
    on({
      "traffic.sidecar.istio.io/includeOutboundIPRanges": "*",
      "traffic.sidecar.istio.io/includeInboundPorts": "*",
    }),
  ),
  ...file(
    "nothing included",
    on({ "traffic.sidecar.istio.io/includeOutboundIPRanges": "", "traffic.sidecar.istio.io/includeInboundPorts": "" }),
  ),
  ...file("bad included ranges", on({ "traffic.sidecar.istio.io/includeOutboundIPRanges": "here" })),
  ...file("bad excluded ranges", on({ "traffic.sidecar.istio.io/excludeOutboundIPRanges": "*" })),
  ...file("bad included ports", on({ "traffic.sidecar.istio.io/includeInboundPorts": "http" })),
  ...file("bad excluded ports", on({ "traffic.sidecar.istio.io/excludeInboundPorts": "a" })),
  ...file("bad excluded outbound ports", on({ "traffic.sidecar.istio.io/excludeOutboundPorts": "a" }), { on: ["1.8"] }),
  ...file("interfaces of virtual machines", on({ "traffic.sidecar.istio.io/kubevirtInterfaces": "net1,net2" })),
  ...file(
    "the status port and times of readiness",
    on({
      "status.sidecar.istio.io/port": "15999",
      "readiness.status.sidecar.istio.io/initialDelaySeconds": "11",
      "readiness.status.sidecar.istio.io/periodSeconds": "12",
      "readiness.status.sidecar.istio.io/failureThreshold": "13",
    }),
  ),
  ...file("resources", on({ "sidecar.istio.io/proxyCPU": "150m", "sidecar.istio.io/proxyMemory": "200Mi" }), {
    on: ["1.1"],
  }),
  ...file(
    "volumes",
    on({
      "sidecar.istio.io/userVolume": '{"a":{"emptyDir":{}}}',
      "sidecar.istio.io/userVolumeMount": '{"a":{"mountPath":"/a"}}',
    }),
    { on: ["1.1"] },
  ),
  ...file("capture by TPROXY", on({ "sidecar.istio.io/interceptionMode": "TPROXY" })),
  ...file("capture by TPROXY for the mesh", deployment(), { mesh: { interceptionMode: "TPROXY" } }),
  ...file("mutual TLS to the control plane", deployment(), {
    mesh: { controlPlaneAuthPolicy: "MUTUAL_TLS" },
  }),
  ...file("no capture", on({ "sidecar.istio.io/interceptionMode": "NONE" })),
  ...file("durations", deployment(), { mesh: { drainDuration: "23s", parentShutdownDuration: "42s" } }),
  ...file("pull always", deployment(), { on: ["1.8"], values: { global: { imagePullPolicy: "Always" } } }),
  ...file("pull secrets", deployment({ spec: { imagePullSecrets: [{ name: "mine" }] } }), {
    on: ["1.8"],
    values: { global: { imagePullSecrets: ["one", "two"] } },
  }),
  ...file("certificates", deployment(), { on: ["1.8"], values: { global: { mountMtlsCerts: true } } }),
  ...file("hold", deployment({ containers: [{ ...APP, readinessProbe: http("web") }] }), {
    on: ["1.8"],
    values: values({ holdApplicationUntilProxyStarts: true }),
  }),
  ...file("traffic by values", deployment(), {
    on: ["1.8"],
    values: values({
      includeIPRanges: "127.0.0.1/24",
      excludeIPRanges: "10.96.0.2/24",
      excludeInboundPorts: "4,5",
      excludeOutboundPorts: "6",
      statusPort: 0,
    }),
  }),
  ...file("probes stay", deployment({ containers: [{ ...APP, readinessProbe: http("web") }] }), {
    on: ["1.8"],
    values: { sidecarInjectorWebhook: { rewriteAppHTTPProbe: false } },
  }),
];

/** Makes a review of a pod for each release, with the configurations above unless `given` replaces them. */
function review(name: string, parts: Parts & { metadata?: Data }, given: Partial<LegacyCase> = {}): LegacyCase[] {
  return file(name, JSON.stringify(pod(parts, parts.metadata)), {
    on: given.release === undefined ? BOTH : [given.release],
  })
    .map((one) => ({ ...one, ...given, review: true }));
}

const LISTS = ["initContainers", "containers", "volumes", "imagePullSecrets"] as const;

const ITEMS: Readonly<Record<typeof LISTS[number], Data>> = {
  initContainers: { name: "istio-init", image: "example.com/init:1" },
  containers: { name: "istio-proxy", image: "example.com/proxy:1" },
  volumes: { name: "istio-envoy", emptyDir: {} },
  imagePullSecrets: { name: "istio-secrets" },
};

const MINE: Readonly<Record<typeof LISTS[number], Data>> = {
  initContainers: { name: "first", image: "i" },
  containers: APP,
  volumes: { name: "data", emptyDir: {} },
  imagePullSecrets: { name: "mine" },
};

const MARKS: Readonly<Record<Release, string>> = { "1.1": "[[ 1 ]]", "1.8": "{{ 1 }}" };

/** Pods without some lists, for a template that contains all of them. */
function lacking(): LegacyCase[] {
  const template = LISTS.map((list) => `  ${list}: ${JSON.stringify([ITEMS[list]])}\n`).join("");
  // The delimiters identify the release.
  const config = (release: Release) => `policy: enabled\ntemplate: |\n  # ${MARKS[release]}\n${template}`;
  return Array.from({ length: 16 }, (_, bits) => LISTS.filter((_, at) => (bits >> at) % 2 === 0)).flatMap((lists) => {
    const given = Object.fromEntries(lists.map((list) => [list, [MINE[list]]]));
    const manifest = JSON.stringify({ apiVersion: "v1", kind: "Pod", metadata: { name: "shop" }, spec: given });
    return review(`a pod with ${lists.join(", ") || "no lists"}`, {}, { manifest }).map((one) => ({
      ...one,
      config: config(one.release),
    }));
  });
}

const STATUS =
  '{"version":"x","initContainers":["istio-init"],"containers":["istio-proxy"],"volumes":["istio-envoy"],"imagePullSecrets":["istio-secrets"]}';
const PROBED = { ...APP, readinessProbe: { ...http("web"), timeoutSeconds: 7 }, livenessProbe: http(8000) };

const REVIEWS: readonly LegacyCase[] = [
  ...lacking(),
  ...review("a review", {}),
  // The webhook of 1.8 adds to labels that do not exist.
  ...review("a review without labels and annotations", { labels: {} }, { release: "1.1" }),
  ...review("a review of probes", { containers: [PROBED] }),
  // 1.1 keeps the scheme, so that the kubelet uses TLS to the agent, and ignores the annotation.
  ...review("a review of probes by HTTPS", {
    containers: [{ ...APP, livenessProbe: http("web", { scheme: "HTTPS" }) }],
  }, {
    release: "1.8",
  }),
  ...review("a review of probes that stay by annotation", {
    annotations: { "sidecar.istio.io/rewriteAppHTTPProbers": "false" },
    containers: [PROBED],
  }, { release: "1.8" }),
  ...review("a review of probes, rewritten by annotation", {
    annotations: { "sidecar.istio.io/rewriteAppHTTPProbers": "true" },
    containers: [PROBED],
  }, { release: "1.8" }),
  ...BOTH.flatMap((release) =>
    review("a review of probes without a proxy", { containers: [PROBED] }, {
      release,
      config: `policy: enabled\ntemplate: |\n  # ${
        MARKS[release]
      }\n  rewriteAppHTTPProbe: true\n  volumes: [{name: v, emptyDir: {}}]\n`,
    })
  ),
  // 1.1 passes the status of the first injection to the proxy as an annotation of the user.
  ...review("a review of a pod that is injected already", {
    annotations: { "sidecar.istio.io/status": STATUS },
    containers: [APP, { name: "istio-proxy", image: "old" }],
    spec: {
      initContainers: [{ name: "istio-init", image: "old" }],
      volumes: [{ name: "istio-envoy", emptyDir: {} }, { name: "data", emptyDir: {} }],
      imagePullSecrets: [{ name: "istio-secrets" }],
    },
  }, { release: "1.8" }),
  ...review("a review of a pod that is injected already, without a status", {
    annotations: { "sidecar.istio.io/status": "{}" },
  }, { release: "1.8" }),
  ...review("a review of a Job's pod", {
    metadata: {
      name: "",
      generateName: "nightly-1606300000-",
      ownerReferences: [{
        apiVersion: "batch/v1",
        kind: "Job",
        name: "nightly-1606300000",
        uid: "u",
        controller: true,
      }],
    },
  }),
  ...review("a review of a ReplicaSet's pod", {
    labels: { app: "shop", "pod-template-hash": "59fd8c4b7" },
    metadata: {
      name: "",
      generateName: "shop-59fd8c4b7-",
      ownerReferences: [{
        apiVersion: "apps/v1",
        kind: "ReplicaSet",
        name: "shop-59fd8c4b7",
        uid: "u",
        controller: true,
      }],
    },
  }),
  ...review("a review with annotations of the injector", {}, {
    release: "1.8",
    config: `injectedAnnotations: {example.com/injected: "1.8"}\n${CONFIG_1_8}`,
  }),
  ...review("a review with hold", {}, {
    release: "1.8",
    values: JSON.stringify(merged(VALUES_1_8, values({ holdApplicationUntilProxyStarts: true }))),
  }),
  ...review("a review with the CNI plugin", { spec: { initContainers: [{ name: "one", image: "i" }] } }, {
    release: "1.8",
    values: JSON.stringify(merged(VALUES_1_8, { istio_cni: { enabled: true } })),
  }),
  ...review("a review with the TLS mode off", { labels: { app: "shop", "security.istio.io/tlsMode": "disabled" } }),
];

export const LEGACY_CASES: readonly LegacyCase[] = [...FILES, ...REVIEWS];

/** Patterns for the file names of shared cases that show the same feature, by the name of our own case. */
export const LIKE: Readonly<Record<string, RegExp>> = {
  "a Deployment": /\/(?:hello|hello-config-map-name|auth|frontend|inject-config|TestWebhookInject)$/,
  "a DaemonSet": /\/daemonset$/,
  "a Job": /\/job$/,
  "a Pod": /\/pod$/,
  "a StatefulSet": /\/statefulset$/,
  "a ReplicaSet": /\/replicaset$/,
  "a ReplicationController": /\/replicationcontroller$/,
  "a DeploymentConfig": /\/deploymentconfig$/,
  "a Service": /\/hello-service$/,
  "two Deployments": /\/hello-multi$/,
  "a List": /\/(?:list|list-frontend|deploymentconfig-multi)$/,
  "injection is off": /\/hello-ignore$/,
  "an image": /\/hello-proxy-override$/,
  "a label of the TLS mode": /\/hello-mtls-not-ready$/,
  "a review with the TLS mode off": /_mtls_not_ready$/,
  "init containers": /\/multi-init$/,
  "probes": /\/(?:hello-probes|hello-readiness|https-probes|startup_ready_live)$/,
  "hold": /\/hello-probes\.proxyHoldsApplication$/,
  "a review with hold": /_holdApplicationUntilProxyStarts$/,
  "all annotations of traffic": /\/traffic-annotations$/,
  "traffic by values": /\/traffic-params$/,
  "wildcards of traffic": /\/traffic-annotations-wildcards$/,
  "nothing included": /\/traffic-annotations-empty-includes$/,
  "bad included ranges": /-bad-includeipranges$/,
  "bad excluded ranges": /-bad-excludeipranges$/,
  "bad included ports": /-bad-includeinboundports$/,
  "bad excluded outbound ports": /-bad-excludeoutboundports$/,
  "interfaces of virtual machines": /\/kubevirtInterfaces(?:_list)?$/,
  "the status port and times of readiness": /\/status_(?:params|annotations)$/,
  "resources": /\/resource_annotations$/,
  "volumes": /\/user-volume$/,
  "capture by TPROXY for the mesh": /\/hello-tproxy$/,
  "durations": /\/format-duration$/,
  "pull always": /\/hello-(?:always|never)$/,
  "pull secrets": /\/hello-(?:multiple-image-secrets|image-secrets-in-values\.iop|template-in-values\.iop)$/,
  "certificates": /\/hello-mount-mtls-certs$/,
  "a pod with initContainers, containers, volumes, imagePullSecrets": /_no_[A-Za-z_]+$/,
  "a review of probes": /_(?:http_probe_rewrite|probe_rewrite_timeout_retention)$/,
  "a review of probes without a proxy": /_http_probe_nosidecar_rewrite$/,
  "a review of probes by HTTPS": /_https_probe_rewrite$/,
  "a review of probes that stay by annotation": /_disabled_via_annotation$/,
  "a review of probes, rewritten by annotation": /_enabled_via_annotation$/,
  "a review of a pod that is injected already": /_replace(?:_backwards_compat)?$/,
  "a review of a Job's pod": /_cron_job$/,
  "a review with annotations of the injector": /_injectorAnnotations$/,
  "a review with the CNI plugin": /_validationOrder$/,
};
