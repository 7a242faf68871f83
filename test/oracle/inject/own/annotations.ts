/** Cases about annotations and labels of pods. */
import { APP, type Data, deployment, type OwnCase, pod, text } from "./case.ts";

/** A case that differs only in annotations. */
function on(name: string, like: readonly string[], annotations: Data, more: Partial<OwnCase> = {}): OwnCase {
  return { name, like, manifest: deployment({ annotations }), ...more };
}

/** A case in which Istio fails with an error. */
function bad(name: string, like: readonly string[], annotations: Data): OwnCase {
  return on(name, like, annotations, { fails: true });
}

const traffic = (entries: Data): Data =>
  Object.fromEntries(Object.entries(entries).map(([name, value]) => [`traffic.sidecar.istio.io/${name}`, value]));

export const ANNOTATIONS: readonly OwnCase[] = [
  bad("ranges of addresses that are none", ["istio/031-traffic-annotations-bad-includeipranges.yaml"], {
    "traffic.sidecar.istio.io/includeOutboundIPRanges": "10.0.0.0/8,here",
  }),
  bad("excluded ranges that are none", ["istio/032-traffic-annotations-bad-excludeipranges.yaml"], {
    "traffic.sidecar.istio.io/excludeOutboundIPRanges": "10.0.0.0/40",
  }),
  bad("excluded ports that are none", ["istio/034-traffic-annotations-bad-excludeinboundports.yaml"], {
    "traffic.sidecar.istio.io/excludeInboundPorts": "80,http",
  }),
  on(
    "all annotations of traffic, and a proxy's settings merged over the mesh's",
    ["istio/036-traffic-annotations.yaml"],
    {
      ...traffic({
        includeOutboundIPRanges: "10.0.0.0/8,2001:db8::/32",
        excludeOutboundIPRanges: "10.9.0.0/16",
        includeInboundPorts: "80,443",
        excludeInboundPorts: "8081,15021",
        includeOutboundPorts: "5432",
        excludeOutboundPorts: "25,587",
        excludeInterfaces: "eth1",
      }),
      "proxy.istio.io/config": "proxyMetadata:\n  B: pod\n  C: pod\nconcurrency: 1\n",
    },
    { mesh: "defaultConfig:\n  proxyMetadata:\n    A: mesh\n    B: mesh\n" },
  ),
  on("wildcards of traffic", ["istio/123-traffic-annotations-wildcards.yaml"], {
    ...traffic({ includeOutboundIPRanges: "*", includeInboundPorts: "*", includeOutboundPorts: "*" }),
  }),
  on("interfaces of virtual machines", ["istio/010-kubevirtInterfaces.yaml"], traffic({ kubevirtInterfaces: "net1" })),
  on("rerouted interfaces", ["istio/114-reroute-virtual-interfaces_list.yaml"], {
    "istio.io/reroute-virtual-interfaces": "net1,net2",
  }),
  on("capture by TPROXY", ["extra/override-proxy-tproxy-annotation"], {
    "sidecar.istio.io/interceptionMode": "TPROXY",
  }, { native: false }),
  on("no capture", ["extra/interception-none-nonnative", "istio/097-init-no-intercept-no-native-sidecar.yaml"], {
    "sidecar.istio.io/interceptionMode": "NONE",
  }, { native: false }),
  on("no capture, native", ["extra/interception-none-native"], { "sidecar.istio.io/interceptionMode": "NONE" }),
  on("a native sidecar by annotation", ["istio/048-native-sidecar-opt-in.yaml"], {
    "sidecar.istio.io/nativeSidecar": "true",
  }, { native: false }),
  on("an ordinary container by annotation", ["istio/050-native-sidecar-opt-out.yaml"], {
    "sidecar.istio.io/nativeSidecar": "false",
  }),
  on("injection is off", ["istio/084-hello-ignore.yaml"], { "sidecar.istio.io/inject": "false" }),
  on("an image", ["istio/093-hello-proxy-override.yaml"], { "sidecar.istio.io/proxyImage": "example.com/proxy:7" }),
  on("resources", ["istio/115-resource_annotations.yaml"], {
    "sidecar.istio.io/proxyCPU": "150m",
    "sidecar.istio.io/proxyMemory": "200Mi",
    "sidecar.istio.io/proxyCPULimit": "1500m",
    "sidecar.istio.io/proxyMemoryLimit": "1.5Gi",
  }),
  on("the processor alone: the values' resources are gone", ["extra/resources-cpu-only-annotation"], {
    "sidecar.istio.io/proxyCPU": "150m",
  }, { native: false }),
  bad("an amount that is none", ["extra/resources-bad-quantity"], { "sidecar.istio.io/proxyCPU": "much" }),
  on("a port and times of readiness", ["istio/120-status_annotations.yaml"], {
    "status.sidecar.istio.io/port": "15999",
    "readiness.status.sidecar.istio.io/initialDelaySeconds": "11",
    "readiness.status.sidecar.istio.io/periodSeconds": "12",
    "readiness.status.sidecar.istio.io/failureThreshold": "13",
  }),
  on("volumes", ["istio/126-user-volume.yaml", "extra/user-volumes"], {
    "sidecar.istio.io/userVolume": '{"b":{"configMap":{"name":"c"}},"a":{"emptyDir":{}}}',
    "sidecar.istio.io/userVolumeMount": '{"b":{"mountPath":"/b","readOnly":true},"a":{"mountPath":"/a"}}',
  }),
  bad("volumes that are no JSON", ["extra/user-volume-bad-json"], { "sidecar.istio.io/userVolume": "{b" }),
  on("a bootstrap of the user", ["extra/bootstrap-override"], { "sidecar.istio.io/bootstrapOverride": "mine" }, {
    native: false,
  }),
  on("low ports", ["extra/cap-net-bind"], { "sidecar.istio.io/capNetBindService": "true" }, { native: false }),
  on("a proxy's settings as JSON, and hold", ["istio/021-hello-probes-proxyHoldApplication-ProxyConfig.yaml"], {
    "proxy.istio.io/config": '{"holdApplicationUntilProxyStarts":true,"drainDuration":"11s"}',
  }),
  on("a proxy's metadata merged over the mesh's", ["extra/proxyconfig-annotation-merges-metadata"], {
    "proxy.istio.io/config": "proxyMetadata: {B: pod}",
  }, { mesh: "defaultConfig: {proxyMetadata: {A: mesh, B: mesh}}", native: false }),
  bad("a proxy's settings that are no YAML", ["extra/proxyconfig-annotation-bad-yaml"], {
    "proxy.istio.io/config": "concurrency: [",
  }),
  bad("two annotations that are wrong", ["extra/two-invalid-annotations"], {
    "sidecar.istio.io/interceptionMode": "SOMETIMES",
    "status.sidecar.istio.io/port": "x",
  }),
  on("the app is not scraped", ["istio/108-prometheus-scrape.yaml", "extra/prom-scrape-false"], {
    "prometheus.io/scrape": "false",
    "prometheus.io/port": "9000",
  }),
  on("the app is scraped", [], {
    "prometheus.io/scrape": "true",
    "prometheus.io/port": "9000",
    "prometheus.io/path": "/m",
  }),
  on("other spellings of Prometheus' annotations", ["extra/prom-sanitised-keys"], {
    "prometheus.io.scrape": "true",
    "prometheus-io/port": "9000",
    "prometheus_io_path": "/m",
  }, { native: false }),
  on("several targets of Prometheus", ["extra/prom-targets"], {
    "prometheus.istio.io/scrape-targets": "9000:/metrics, 9100",
  }, { native: false }),
  bad("Prometheus scrapes a reserved port", ["extra/prom-reserved-port"], {
    "prometheus.io/scrape": "true",
    "prometheus.io/port": "15090",
  }),
  on("Prometheus scrapes the agent already", ["extra/prom-already-agent-port"], {
    "prometheus.io/scrape": "true",
    "prometheus.io/port": "15020",
    "prometheus.io/path": "/stats/prometheus",
  }, { native: false }),
  on("metrics are not merged", ["extra/prom-merge-off-mesh"], {
    "prometheus.io/scrape": "true",
    "prometheus.io/port": "9000",
  }, { mesh: "enablePrometheusMerge: false", native: false }),
  on("the status port of the proxy's settings is scraped", ["extra/prom-status-port-proxyconfig"], {
    "prometheus.io/scrape": "true",
    "prometheus.io/port": "9000",
    "proxy.istio.io/config": "statusPort: 15999",
  }, { native: false }),
  {
    name: "names and versions of Kubernetes' labels",
    like: ["extra/canonical-k8s-labels"],
    manifest: deployment({ labels: { "app.kubernetes.io/name": "trade", "app.kubernetes.io/version": "5" } }),
    native: false,
  },
  {
    name: "a label of the workload's name",
    like: ["extra/workload-name-label"],
    manifest: deployment({ labels: { app: "shop", "service.istio.io/workload-name": "trade" } }),
    native: false,
  },
  {
    name: "a user's proxy and init container",
    like: ["istio/037-proxy-override.yaml", "extra/override-proxy-nonnative"],
    manifest: deployment({
      containers: [APP, {
        name: "istio-proxy",
        image: "auto",
        env: [{ name: "MINE", value: "1" }, { name: "PROXY_CONFIG", value: "{}" }],
        ports: [{ containerPort: 15090, name: "renamed" }, { containerPort: 7777 }],
        resources: { requests: { cpu: "123m" } },
        readinessProbe: { exec: { command: ["true"] } },
        lifecycle: { preStop: { exec: { command: ["sleep", "9"] } } },
        volumeMounts: [{ name: "certs", mountPath: "/certs" }],
      }],
      spec: {
        initContainers: [{ name: "istio-init", image: "auto", resources: { requests: { cpu: "9m" } } }],
        volumes: [{ name: "certs", secret: { secretName: "certs" } }],
      },
    }),
    native: false,
  },
  {
    name: "a user's proxy with arguments",
    like: ["istio/040-proxy-override-args.yaml"],
    manifest: deployment({
      containers: [APP, { name: "istio-proxy", image: "auto", args: ["--mine"], command: ["sh"] }],
    }),
  },
  {
    name: "a user's proxy under another user",
    like: ["istio/041-proxy-override-runas.yaml"],
    manifest: deployment({
      containers: [APP, { name: "istio-proxy", image: "auto", securityContext: { runAsUser: 2001, runAsGroup: 2002 } }],
    }),
  },
  {
    name: "a user's proxy beside the CNI plugin",
    like: ["extra/override-proxy-cni"],
    manifest: deployment({
      containers: [APP, { name: "istio-proxy", image: "auto", securityContext: { runAsUser: 2001 } }],
    }),
    values: { pilot: { cni: { enabled: true } } },
    native: false,
  },
  {
    name: "injected twice",
    like: ["extra/reinject-idempotent"],
    manifest: text(pod({
      annotations: {
        "sidecar.istio.io/status":
          '{"initContainers":["istio-init","istio-proxy"],"containers":null,"volumes":["istio-envoy"],"imagePullSecrets":null,"revision":"default"}',
      },
      spec: {
        initContainers: [
          { name: "istio-init", image: "example.com/proxyv2:1" },
          { name: "istio-proxy", image: "example.com/proxyv2:1", restartPolicy: "Always" },
        ],
        volumes: [{ name: "istio-envoy", emptyDir: { medium: "Memory" } }],
      },
    })),
  },
];
