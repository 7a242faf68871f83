/** Cases about values and mesh configurations. */
import { type Data, deployment, type OwnCase, text, workload } from "./case.ts";

/** A case that differs only in values. */
function values(name: string, like: readonly string[], given: Data | string, more: Partial<OwnCase> = {}): OwnCase {
  return { name, like, manifest: deployment(), values: given, ...more };
}

/** A case that differs only in the mesh configuration. */
function mesh(name: string, like: readonly string[], given: string, more: Partial<OwnCase> = {}): OwnCase {
  return { name, like, manifest: deployment(), mesh: given, ...more };
}

const multus = { pilot: { cni: { enabled: true, provider: "multus" } } };

export const SETTINGS: readonly OwnCase[] = [
  values("the CNI plugin, and a network", ["istio/000-hello.yaml.cni"], {
    pilot: { cni: { enabled: true } },
    global: { network: "east" },
  }),
  values("the CNI plugin of Multus", [], multus),
  values("the CNI plugin of Multus, beside networks by name", ["istio/016-hello-cncf-networks.yaml"], multus, {
    manifest: deployment({ annotations: { "k8s.v1.cni.cncf.io/networks": "one, two" } }),
  }),
  values(
    "the CNI plugin of Multus, beside networks as JSON",
    ["istio/018-hello-existing-cncf-networks-json.yaml"],
    multus,
    {
      manifest: deployment({ annotations: { "k8s.v1.cni.cncf.io/networks": '[{"name":"one","namespace":"n"}]' } }),
    },
  ),
  values("an image of the init container", ["istio/002-hello.yaml.proxyInitImageName"], {
    global: { proxy_init: { image: "setup" } },
  }),
  values("pull always", ["istio/004-hello-always.yaml"], { global: { imagePullPolicy: "Always" } }),
  values("pull secrets", ["istio/012-hello-image-secrets-in-values.yaml"], {
    global: { imagePullSecrets: ["one", "two"] },
  }),
  values("the status port and times of readiness", ["istio/009-status_params.yaml"], {
    global: {
      proxy: {
        statusPort: 15999,
        readinessInitialDelaySeconds: 11,
        readinessPeriodSeconds: 12,
        readinessFailureThreshold: 13,
      },
    },
  }),
  values("certificates for clients, mounted by a template", ["istio/015-hello-mount-mtls-certs.yaml"], {
    global: { mountMtlsCerts: true },
  }, {
    manifest: deployment({
      annotations: { "inject.istio.io/templates": "sidecar,certificates" },
    }),
    templates: {
      certificates: `spec:
  containers:
  - name: shop
    env: [{name: CERTIFICATES, value: /etc/certs}]
  volumes:
  {{- if .Values.global.mountMtlsCerts }}
  - name: istio-certs
    secret:
      optional: true
      secretName: {{ if eq .Spec.ServiceAccountName "" }}istio.default{{ else }}istio.{{ .Spec.ServiceAccountName }}{{ end }}
  {{- end }}
`,
    },
  }),
  values("resources that are null", ["istio/063-proxy-resources-null.yaml"], {
    global: { proxy: { resources: { limits: { cpu: null, memory: null }, requests: { cpu: "70m", memory: null } } } },
  }),
  values("resources of zero", ["istio/065-proxy-resources-zero.yaml"], {
    global: { proxy: { resources: { limits: { cpu: "0" }, requests: { cpu: "0", memory: "0" } } } },
  }),
  values("hold", ["extra/hold-values"], { global: { proxy: { holdApplicationUntilProxyStarts: true } } }, {
    native: false,
  }),
  values("a lifecycle beside hold", ["extra/hold-and-lifecycle-values"], {
    global: {
      proxy: {
        holdApplicationUntilProxyStarts: true,
        lifecycle: { preStop: { exec: { command: ["sleep", "6"] } } },
      },
    },
  }, { native: false }),
  values("addresses, logs, domain, nftables, no startup probe", ["extra/values-misc"], {
    global: {
      caAddress: "ca.example:15012",
      imagePullPolicy: "IfNotPresent",
      logAsJson: true,
      logging: { level: "all:debug" },
      nativeNftables: true,
      network: "west",
      meshID: "m1",
      multiCluster: { clusterName: "west-1" },
      proxy: { clusterDomain: "corp.example", startupProbe: { enabled: false }, logLevel: "debug" },
      proxy_init: { forceApplyIptables: true },
    },
  }, { native: false }),
  values("privileged, and a seccomp profile", ["extra/values-security"], {
    global: { proxy: { privileged: true, seccompProfile: { type: "Localhost", localhostProfile: "mine" } } },
  }, { native: false }),
  values("another certificate provider, and a name of the trust bundle", ["extra/cluster-trust-bundle"], {
    global: { trustBundleName: "bundle" },
    pilot: { env: { ENABLE_CLUSTER_TRUST_BUNDLE_API: true } },
  }, {
    native: false,
    manifest: deployment({ annotations: { "inject.istio.io/templates": "sidecar,bundle" } }),
    templates: {
      bundle: `spec:
  volumes:
  {{- if eq ((.Values.pilot).env).ENABLE_CLUSTER_TRUST_BUNDLE_API true }}
  - name: bundle
    projected:
      sources:
      - clusterTrustBundle:
          name: istio.io:istiod-ca:{{ .Values.global.trustBundleName | default "root-cert" }}
          path: root-cert.pem
  {{- end }}
`,
    },
  }),
  values("a tracer's environment from an annotation", ["extra/tracer-datadog-env"], {
    global: { proxy: { tracer: "datadog" } },
  }, {
    native: false,
    manifest: deployment({
      annotations: {
        "inject.istio.io/templates": "sidecar,tracer",
        "apm.datadoghq.com/env": '{"DD_B":"<2>","DD_A":"1"}',
      },
    }),
    templates: {
      tracer: `spec:
  containers:
  - name: shop
    env:
    {{- if eq .Values.global.proxy.tracer "datadog" }}
    {{- range $key, $value := fromJSON (index .ObjectMeta.Annotations "apm.datadoghq.com/env") }}
    - name: {{ $key }}
      value: "{{ $value }}"
    {{- end }}
    {{- end }}
`,
    },
  }),
  values("values that are no YAML", ["extra/values-invalid-yaml"], "global: [", { fails: true, native: false }),
  values("a variant of the images, and a type by the mesh", ["extra/image-type-proxyconfig-default"], {
    global: { tag: "9-debug", variant: "distroless" },
  }, { mesh: "defaultConfig: {image: {imageType: default}}", native: false }),
  mesh("capture by TPROXY for the mesh", ["istio/003-hello-tproxy.yaml"], "defaultConfig: {interceptionMode: TPROXY}"),
  mesh(
    "a duration that differs from the default",
    ["istio/007-format-duration.yaml"],
    "defaultConfig: {drainDuration: 23s}",
  ),
  mesh(
    "attributes of OpenTelemetry",
    ["istio/070-hello-otel-semconv.yaml", "extra/otel"],
    `extensionProviders:
- name: otel
  opentelemetry: {port: 4317, service: o.example, serviceAttributeEnrichment: OTEL_SEMANTIC_CONVENTIONS}
`,
    {
      manifest: text(
        workload(
          "Deployment",
          {
            annotations: { "resource.opentelemetry.io/service.version": "v3" },
            containers: [{ name: "shop", image: "example.com:5000/a/b:1.2@sha256:abc" }],
          },
          { namespace: "trade" },
        ),
      ),
    },
  ),
  mesh(
    "a trace of iptables by metadata",
    ["extra/iptables-trace"],
    `defaultConfig:
  proxyMetadata: {IPTABLES_TRACE_LOGGING: "true"}
`,
    { native: false },
  ),
  mesh(
    "all fields of a proxy's settings, in order",
    ["extra/mesh-proxyconfig-field-order"],
    `trustDomain: td.example
defaultConfig:
  tracing: {zipkin: {address: "z:9411"}, sampling: 5}
  concurrency: 0
  discoveryAddress: istiod.mine.svc:15012
  extraStatTags: [a]
  gatewayTopology: {numTrustedProxies: 2}
  meshId: mm
  proxyMetadata: {Z: "1", A_B: x y}
  proxyStatsMatcher: {inclusionRegexps: [".*"]}
  statNameLength: 99
  terminationDrainDuration: 7s
`,
    { native: false },
  ),
  mesh(
    "a mesh configuration with impossible values",
    ["extra/mesh-validation-error"],
    `defaultConfig:
  drainDuration: 0s
  proxyAdminPort: 99999
`,
    { fails: true, native: false },
  ),
  mesh("an empty mesh configuration", ["extra/mesh-empty-file"], "", { native: false }),
];
