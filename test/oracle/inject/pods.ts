/** Generates workloads as users write them, with valid and invalid parts. */
import { fc } from "../../support/properties.ts";

type Data = Record<string, unknown>;

const oneOf = fc.constantFrom;
const may = <T>(what: fc.Arbitrary<T>) => fc.option(what, { nil: undefined, freq: 2 });

const port = oneOf(80, 8080, 9090, 15020, 15021, 443);
const namedOrNumber = fc.oneof(port, oneOf("http", "grpc", "nowhere", "80"));
const http = fc.record({
  httpGet: fc.record(
    {
      path: oneOf("/", "/health?a=<b>&c", ""),
      port: namedOrNumber,
      scheme: oneOf("HTTP", "HTTPS"),
      host: oneOf("h", ""),
      httpHeaders: fc.constant([{ name: "A", value: "b" }, { name: "Host", value: "x" }]),
    },
    { requiredKeys: ["port"] },
  ),
});
const tcp = fc.record({
  tcpSocket: fc.record({ port: namedOrNumber, host: oneOf("h", "") }, { requiredKeys: ["port"] }),
});
const grpc = fc.record({ grpc: fc.record({ port, service: oneOf("", "svc") }, { requiredKeys: ["port"] }) });
const exec = fc.constant({ exec: { command: ["true"] } });
const timing = fc.record({ timeoutSeconds: oneOf(0, 1, 7), periodSeconds: oneOf(3) }, { requiredKeys: [] });
const probe = fc.tuple(fc.oneof(http, tcp, grpc, exec), timing).map(([action, times]) => ({ ...action, ...times }));
const handler = fc.oneof(http, tcp, exec, fc.constant({ sleep: { seconds: 3 } }));

const portEntry = fc.record(
  { name: oneOf("http", "grpc", "metrics"), containerPort: port, protocol: oneOf("TCP", "UDP"), hostPort: oneOf(80) },
  { requiredKeys: ["containerPort"] },
);
const env = fc.array(
  fc.oneof(
    fc.record({ name: oneOf("A", "B", "POD_NAME"), value: oneOf("1", "", "$(A)") }),
    fc.constant({ name: "F", valueFrom: { fieldRef: { fieldPath: "metadata.name" } } }),
    fc.constant({ name: "R", valueFrom: { resourceFieldRef: { resource: "limits.cpu", divisor: "0" } } }),
  ),
  { maxLength: 3 },
);
const resources = oneOf<Data>(
  { requests: { cpu: "2000m", memory: "1024Mi" } },
  { limits: { cpu: 1.5, memory: "1.5Gi" } },
  { limits: { "nvidia.com/gpu": 1 } },
  {},
);
const security = fc.record(
  {
    runAsUser: oneOf(0, 1000, 1337),
    runAsGroup: oneOf(0, 2000),
    privileged: fc.boolean(),
    capabilities: oneOf({ add: ["NET_ADMIN"] }, { drop: ["ALL"] }),
    readOnlyRootFilesystem: fc.boolean(),
  },
  { requiredKeys: [] },
);
const mounts = fc.array(
  oneOf({ name: "data", mountPath: "/data" }, { name: "istio-data", mountPath: "/var/lib/istio/data" }, {
    name: "data",
    mountPath: "/etc/istio/pod",
    readOnly: true,
  }),
  { maxLength: 2 },
);

function container(name: fc.Arbitrary<string>) {
  return fc.record(
    {
      name,
      image: oneOf("app:1", "app@sha256:0123", "reg:5000/app:2@sha256:ab", "auto", "app"),
      ports: fc.array(portEntry, { maxLength: 3 }),
      env,
      resources,
      securityContext: security,
      readinessProbe: probe,
      livenessProbe: probe,
      startupProbe: probe,
      lifecycle: fc.record({ preStop: handler, postStart: handler }, { requiredKeys: [] }),
      volumeMounts: mounts,
      args: oneOf<unknown[]>(["a", "b"], [1, true, "x"]),
      command: oneOf<unknown[]>(["sh"], []),
      imagePullPolicy: oneOf("Always", "Never"),
      terminationMessagePath: oneOf("/x"),
    },
    { requiredKeys: ["name", "image"] },
  );
}

const app = fc.uniqueArray(container(oneOf("app", "web", "side")), {
  minLength: 1,
  maxLength: 3,
  selector: (c) => c["name"],
});
const inits = fc.uniqueArray(container(oneOf("init-a", "init-b", "istio-validation", "enable-core-dump")), {
  minLength: 1,
  maxLength: 2,
  selector: (c) => c["name"],
});
const proxy = container(fc.constant("istio-proxy"));
const init = container(fc.constant("istio-init"));

const volumes = fc.array(
  oneOf<Data>(
    { name: "data", emptyDir: {} },
    { name: "istio-envoy", emptyDir: {} },
    { name: "cfg", configMap: { name: "c", optional: true } },
    { name: "istio-data", persistentVolumeClaim: { claimName: "x" } },
    { name: "istio-envoy", emptyDir: { medium: "Memory", sizeLimit: "1024Mi" } },
  ),
  { maxLength: 3 },
);

/** Values of annotations: first valid ones; for some annotations, the last values are invalid. */
const ANNOTATIONS: Table = {
  "sidecar.istio.io/interceptionMode": ["REDIRECT", "TPROXY", "NONE", "tproxy"],
  "status.sidecar.istio.io/port": ["0", "9876", " 15020 ", "15020", "65536", ""],
  "readiness.status.sidecar.istio.io/initialDelaySeconds": ["3", "0", "-1"],
  "readiness.status.sidecar.istio.io/periodSeconds": ["7", "4294967296"],
  "readiness.status.sidecar.istio.io/failureThreshold": ["9", ""],
  "traffic.sidecar.istio.io/includeOutboundIPRanges": [
    "*",
    "",
    "10.0.0.0/8,fd00::/8",
    "10.0.0.1/33",
    "*,10.0.0.0/8",
    "1.2.3.4",
  ],
  "traffic.sidecar.istio.io/excludeOutboundIPRanges": ["", "10.0.0.0/8", "*", "10.0.0.0/8, 11.0.0.0/8", "10.0.0.0/08"],
  "traffic.sidecar.istio.io/includeInboundPorts": ["*", "", "80", "80, 81", "80,", "65536", "+80"],
  "traffic.sidecar.istio.io/excludeInboundPorts": ["", "80", "80, 15021", "15020", "*", "a", "80,,81"],
  "traffic.sidecar.istio.io/excludeOutboundPorts": ["", "3306", "1,2", "*"],
  "traffic.sidecar.istio.io/includeOutboundPorts": ["", "3306", "1,2", "*"],
  "traffic.sidecar.istio.io/excludeInterfaces": ["", "eth0", "eth0,eth1", "a-name-far-too-long", "e th", "eth0, eth1"],
  "traffic.sidecar.istio.io/kubevirtInterfaces": ["", "net1", "net1,net2"],
  "istio.io/reroute-virtual-interfaces": ["net5", "", "a/b"],
  "prometheus.istio.io/merge-metrics": ["true", "false", "T", "0", "yes"],
  "prometheus.io/scrape": ["true", "false", "maybe", ""],
  "prometheus.io/port": ["8080", "15020", "9090", "15090", "x", "", "08080", "+80"],
  "prometheus.io/path": ["/m", "", "/a?b=<c>"],
  "prometheus.istio.io/scrape-targets": [
    "9090",
    "9090:/x,9091",
    ":",
    "15020",
    "9090:",
    ",",
    "9090:x",
    "a:/x",
    "9090:/a:b,9091:/c",
  ],
  "prometheus.istio.io/secure-port": ["1", ""],
  "proxy.istio.io/config": [
    "concurrency: 3",
    '{"holdApplicationUntilProxyStarts": true, "proxyMetadata": {"Z": "z"}}',
    "statusPort: 9876",
    "interceptionMode: TPROXY",
    "tracing:\n  zipkin:\n    address: x:1\ndrainDuration: 23s",
    "image:\n  imageType: debug",
    "terminationDrainDuration: 5s\nproxyMetadata:\n  ISTIO_META_ENABLE_HBONE: 'true'\n  ENVOY_SECURE_MERGED_METRICS_PORT: '15091'",
    "",
    "unknown: 1",
    "drainDuration: x",
    "concurrency: [1]",
    "a: b: c",
    "proxyStatsMatcher:\n  inclusionRegexps: ['a.*']\nextraStatTags: [x]",
    "statusPort: 0",
    "discoveryAddress: ''",
    "discovery_address: a.b:15012",
  ],
  "sidecar.istio.io/proxyCPU": ["100m", "2000m", "0.5", "abc"],
  "sidecar.istio.io/proxyMemory": ["1Gi", "1024Mi", "1 Gi"],
  "sidecar.istio.io/proxyCPULimit": ["2", "1e3", ""],
  "sidecar.istio.io/proxyMemoryLimit": ["2Gi", "1.5Gi"],
  "sidecar.istio.io/inject": ["true", "false", "yes", ""],
  "inject.istio.io/templates": [
    "sidecar",
    "gateway",
    "sidecar,grpc-agent",
    "grpc-simple",
    "grpc-agent",
    " sidecar , grpc-simple ",
    "nope",
    "",
  ],
  "sidecar.istio.io/rewriteAppHTTPProbers": ["true", "false", "0", "x", ""],
  "sidecar.istio.io/proxyImage": ["own/image:1", "noslash", ""],
  "sidecar.istio.io/proxyImageType": ["debug", "default", "distroless", "other", ""],
  "sidecar.istio.io/logLevel": ["debug", ""],
  "sidecar.istio.io/componentLogLevel": ["a:b", ""],
  "sidecar.istio.io/agentLogLevel": ["default:debug", ""],
  "sidecar.istio.io/bootstrapOverride": ["cm", ""],
  "sidecar.istio.io/userVolume": [
    '{"v": {"emptyDir": {}}}',
    '{"b":{"configMap":{"name":"x"}},"a":{"secret":{"secretName":"s"}}}',
    "{}",
    "x",
  ],
  "sidecar.istio.io/userVolumeMount": ['{"v": {"mountPath": "/v", "readOnly": true}}', "{}", "["],
  "sidecar.istio.io/capNetBindService": ["true", "false"],
  "sidecar.istio.io/nativeSidecar": ["true", "false", "no", ""],
  "kubectl.kubernetes.io/default-container": ["web", ""],
  "kubectl.kubernetes.io/default-logs-container": ["web"],
  "k8s.v1.cni.cncf.io/networks": [
    "a",
    "a, istio-cni",
    '[{"name":"x"}]',
    '[{"name":"istio-cni","namespace":"default"}]',
    "default/istio-cni",
    "[x]",
  ],
  "apm.datadoghq.com/env": ['{"DD_ENV":"p","DD_A":"<&>"}', "{}", "x"],
  "resource.opentelemetry.io/service.version": ["v9"],
  "resource.opentelemetry.io/service.namespace": ["n9"],
  "resource.opentelemetry.io/service.instance.id": ["i9"],
  "istio.io/rev": ["canary"],
  "sidecar.istio.io/statsInclusionPrefixes": ["a,b"],
  "sidecar.istio.io/discoveryAddress": ["x:1"],
  "sidecar.istio.io/status": [
    '{"initContainers":["istio-init"],"containers":["istio-proxy"],"volumes":["istio-envoy"],"imagePullSecrets":null,"revision":"default"}',
    '{"initContainers":["istio-init","istio-proxy"],"containers":null,"volumes":null,"imagePullSecrets":null,"revision":"x"}',
    "{}",
    "x",
  ],
};

const LABELS: Table = {
  app: ["shop", "a-name-that-is-longer-than-sixty-three-characters-so-that-it-is-cut-.-off", ""],
  version: ["v1", ""],
  "app.kubernetes.io/name": ["shop-app", ""],
  "app.kubernetes.io/version": ["1.2", ""],
  "service.istio.io/canonical-name": ["canon", ""],
  "service.istio.io/canonical-revision": ["r7", ""],
  "service.istio.io/workload-name": ["wl"],
  "security.istio.io/tlsMode": ["disabled", ""],
  "networking.istio.io/tunnel": ["http", ""],
  "topology.istio.io/network": ["net-9", ""],
  "sidecar.istio.io/inject": ["true", "false", "", "on"],
  "istio.io/rev": ["canary"],
  "pod-template-hash": ["abc"],
};

/** Chooses some of the annotations or labels, each with one of its values in the table. */
function some(table: Table, names: readonly string[], maxLength: number): fc.Arbitrary<Record<string, string>> {
  const entry = oneOf(...names).chain((name) => fc.tuple(fc.constant(name), oneOf(...table[name] ?? [])));
  return fc.array(entry, { maxLength }).map((entries) => Object.fromEntries(entries));
}

type Table = Readonly<Record<string, readonly string[]>>;

/** Re-injection is more frequent than every other case. */
const ANNOTATION_NAMES = [...Object.keys(ANNOTATIONS), ...Array(6).fill("sidecar.istio.io/status")];

/** Returns every annotation and label with each of its values, for a plain pod without other annotations. */
export function eachAnnotation(): (readonly [string, string])[] {
  const all = (part: string, table: Table) =>
    Object.entries(table).flatMap(([name, values]) =>
      values.map((value) => [`${part} ${name}=${value}`, manifestOf({ [part]: { [name]: value } }, PLAIN)] as const)
    );
  return [...all("annotations", ANNOTATIONS), ...all("labels", LABELS)];
}

const PLAIN = {
  containers: [{
    name: "app",
    image: "app:1",
    ports: [{ name: "http", containerPort: 8080 }, { containerPort: 9090 }],
    readinessProbe: { httpGet: { path: "/ready", port: "http" }, timeoutSeconds: 2 },
  }],
};

function manifestOf(metadata: Data, spec: Data): string {
  return JSON.stringify({
    apiVersion: "apps/v1",
    kind: "Deployment",
    metadata: { name: "shop", namespace: "prod" },
    spec: { selector: { matchLabels: { app: "shop" } }, template: { metadata, spec } },
  });
}

const spec = fc.tuple(app, may(inits), may(proxy), may(init), fc.boolean(), may(volumes), podFields())
  .map(([containers, initContainers, user, userInit, asInit, list, fields]) => {
    const first = [...initContainers ?? [], ...userInit === undefined ? [] : [userInit]];
    const main = [...containers];
    if (user !== undefined) (asInit && user["image"] !== "auto" ? first : main).splice(0, 0, user);
    return {
      ...fields,
      containers: main,
      ...first.length === 0 ? {} : { initContainers: first },
      ...list === undefined ? {} : { volumes: list },
    };
  });

function podFields() {
  return fc.record(
    {
      serviceAccountName: oneOf("sa"),
      securityContext: oneOf<Data>({ runAsUser: 5, fsGroup: 6 }, {}),
      dnsPolicy: oneOf("Default", "ClusterFirst"),
      dnsConfig: oneOf<Data>({ searches: ["a"] }),
      imagePullSecrets: oneOf<Data[]>([{ name: "mine" }], [{ name: "one" }]),
      hostNetwork: oneOf(false, false, false, true),
      tolerations: oneOf<Data[]>([], [{ key: "a", operator: "Exists" }]),
      terminationGracePeriodSeconds: oneOf(0, 30),
      nodeSelector: oneOf<Data>({ a: "b" }),
    },
    { requiredKeys: [] },
  );
}

const metadata = fc.record(
  {
    annotations: some(ANNOTATIONS, ANNOTATION_NAMES, 4),
    labels: some(LABELS, Object.keys(LABELS), 3),
    name: oneOf("pod"),
    generateName: oneOf("gen-"),
  },
  { requiredKeys: ["annotations", "labels"] },
);

/** A workload of any kind, as JSON. */
export const manifest: fc.Arbitrary<string> = fc.tuple(
  metadata,
  spec,
  oneOf("Deployment", "Pod", "Job", "StatefulSet", "DaemonSet"),
)
  .map(([meta, podSpec, kind]) => kind === "Pod" ? pod(meta, podSpec) : workload(kind, meta, podSpec));

function pod(meta: Data, podSpec: Data): string {
  return JSON.stringify({
    apiVersion: "v1",
    kind: "Pod",
    metadata: { name: "solo", namespace: "prod", ...meta },
    spec: podSpec,
  });
}

function workload(kind: string, meta: Data, podSpec: Data): string {
  const apiVersion = kind === "Job" ? "batch/v1" : "apps/v1";
  const { name: _, ...rest } = meta;
  return JSON.stringify({
    apiVersion,
    kind,
    metadata: { name: "shop" },
    spec: { template: { metadata: rest, spec: podSpec } },
  });
}
