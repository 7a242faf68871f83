/** Cases about templates: for gateways, for gRPC without a proxy, users' own templates, and templates that fail. */
import { APP, deployment, type OwnCase, pod, text } from "./case.ts";

const PROXY = `spec:
  containers:
  - name: istio-proxy
    image: example.com/proxy:1
`;

/** A case whose configuration contains a single template. */
function only(name: string, like: readonly string[], sidecar: string, more: Partial<OwnCase> = {}): OwnCase {
  const config = `templates:\n  sidecar: |\n${sidecar.replace(/^/gm, "    ")}\n`;
  return { name, like, manifest: text(pod()), config, native: false, ...more };
}

const GATEWAY = `metadata:
  labels:
    service.istio.io/canonical-name: {{ index .ObjectMeta.Labels "app" | default .DeploymentMeta.Name | quote }}
  annotations:
    istio.io/rev: {{ .Revision | default "default" | quote }}
    prometheus.io/path: /stats/prometheus
    prometheus.io/port: "15020"
    prometheus.io/scrape: "true"
spec:
  securityContext:
  {{- if .Values.gateways.securityContext }}
    {{- toYaml .Values.gateways.securityContext | nindent 4 }}
  {{- else }}
    sysctls:
    - name: net.ipv4.ip_unprivileged_port_start
      value: "0"
  {{- end }}
  containers:
  - name: istio-proxy
    image: {{ .ProxyImage }}
    args: [proxy, router]
    ports:
    - containerPort: 15090
      protocol: TCP
      name: http-envoy-prom
    readinessProbe:
      httpGet: {path: /healthz/ready, port: 15021}
    volumeMounts:
    - name: istio-token
      mountPath: /var/run/secrets/tokens
  volumes:
  - name: istio-token
    projected:
      sources:
      - serviceAccountToken: {path: istio-token, expirationSeconds: 43200, audience: {{ .Values.global.sds.token.aud }}}
`;

const GRPC = (agent: boolean) =>
  `spec:
  ${
    agent
      ? "containers:\n  - name: istio-proxy\n    image: {{ .ProxyImage }}\n    args: [proxy, sidecar]"
      : "initContainers:\n  - name: grpc-bootstrap-init\n    image: example.com/setup:1"
  }
    env:
    - name: OUTPUT
      value: /var/lib/istio/data/grpc-bootstrap.json
    volumeMounts:
    - {name: grpc-data, mountPath: /var/lib/istio/data}
${agent ? "" : "  containers:\n"}  {{- range $index, $container := .Spec.Containers }}
  {{- if not (eq $container.Name "istio-proxy") }}
  - name: {{ $container.Name }}
    env:
    - {name: GRPC_XDS_BOOTSTRAP, value: /var/lib/istio/data/grpc-bootstrap.json}
    volumeMounts:
    - {name: grpc-data, mountPath: /var/lib/istio/data}
  {{- end }}
  {{- end }}
  volumes:
  - name: grpc-data
    emptyDir: {}
`;

const TWO = [APP, { name: "cart", image: "example.com/cart:1", readinessProbe: { httpGet: { port: 9000 } } }];

/** Templates besides the built-in one. */
export const TEMPLATES = { gateway: GATEWAY, "grpc-agent": GRPC(true), "grpc-simple": GRPC(false) };

/** A case that uses one of these templates. */
function named(template: string, like: readonly string[], parts: Parameters<typeof deployment>[0]): OwnCase {
  const annotations = { "inject.istio.io/templates": template };
  const manifest = deployment({ ...parts, annotations });
  return { name: `the template ${template}`, like, manifest, templates: TEMPLATES, native: false };
}

const CUSTOM = `metadata:
  annotations:
    prometheus.istio.io/merge-metrics: "false"
    sidecar.istio.io/rewriteAppHTTPProbers: "false"
    example.com/note: custom
spec:
  containers:
  {{- range .Spec.Containers }}
  - name: {{ .Name }}
    env: [{name: NOTE, value: custom}]
    volumeMounts: [{name: note, mountPath: /note.json, subPath: note.json}]
  {{- end }}
  volumes:
  - name: note
    downwardAPI:
      items: [{path: note.json, fieldRef: {fieldPath: "metadata.annotations['note']"}}]
`;

const FUNCTIONS = `{{- define "pair" }}{{ .x }}-{{ $.y }}{{ end }}
metadata:
  annotations:
    missing: |-
      {{ .Values.missing }} {{ annotation .ObjectMeta "none" .Values.missing }}
    numbers: |-
      {{ .Values.global.proxy.statusPort }} {{ .Values.big }} {{ .Values.part }} {{ .Values.global.proxy.privileged }}
    modes: |-
      {{ .ProxyConfig.InterceptionMode }} {{ .ProxyConfig.InterceptionMode.String }} {{ printf "%d" .ProxyConfig.InterceptionMode }}
    durations: |-
      {{ .ProxyConfig.DrainDuration.AsDuration }} {{ formatDuration .ProxyConfig.DrainDuration }}
    ports: |-
      {{ excludeInboundPort 15020 "1, 2" }} {{ includeInboundPorts .Spec.Containers }} {{ applicationPorts .Spec.Containers }}
    json: |-
      {{ toJSON .ObjectMeta.Labels }} {{ structToJSON .Spec }} {{ protoToJSON .ProxyConfig }} {{ fromJSON "[1,2.5,true,null]" }}
    maps: |-
      {{ toJsonMap (strdict "a" "b") (strdict "c" "1") }} {{ mergeMaps (strdict "a" "b") .ObjectMeta.Labels }} {{ omit .ObjectMeta.Labels "app" }}
    texts: |-
      {{ toLower "ABC" }} {{ contains "b" "abc" }} {{ directory "/a/b" }} {{ valueOrDefault "" "x" }} {{ env "NOT_SET" "y" }}
    networks: |-
      {{ appendMultusNetwork "" "n" }} {{ appendMultusNetwork "a" "d/n" }} {{ appendMultusNetwork "[{}]" "d/n" }}
    defined: |-
      {{ template "pair" dict "x" 1 "y" 2 }}
    yaml: |-
      {{- toYaml .Values.global.proxy.resources | nindent 6 }}
`;

export const TEMPLATE_CASES: readonly OwnCase[] = [
  named("gateway", ["istio/045-gateway.yaml"], { containers: [{ name: "istio-proxy", image: "auto" }] }),
  {
    ...named("gateway", ["extra/gateway-custom"], {
      containers: [{
        name: "istio-proxy",
        image: "auto",
        ports: [{ containerPort: 8443 }],
        resources: { requests: { cpu: "1" } },
      }],
    }),
    name: "the template gateway with a user's settings",
    values: { gateways: { securityContext: { runAsUser: 99 } } },
  },
  named("grpc-agent", ["istio/081-grpc-agent.yaml", "extra/grpc-agent-two-apps"], { containers: TWO }),
  named("grpc-simple", ["extra/grpc-simple-two-apps"], { containers: TWO }),
  {
    name: "a template of the user beside the sidecar's",
    like: ["istio/052-custom-template.yaml"],
    manifest: deployment({
      annotations: { "inject.istio.io/templates": "sidecar,custom", "prometheus.io/scrape": "true" },
      containers: TWO,
    }),
    templates: { custom: CUSTOM },
  },
  only("a template without a proxy: probes stay", ["extra/probes-no-sidecar-in-template"], "spec: {}", {
    manifest: text(pod({ containers: TWO })),
  }),
  only("functions of templates", ["extra/template-functions"], FUNCTIONS, {
    values: { big: 1000000, part: 1.5 },
    manifest: text(
      pod({ containers: [{ ...APP, ports: [{ containerPort: 80 }, { containerPort: 81, protocol: "UDP" }] }] }),
    ),
  }),
  only("a function that does not exist", ["extra/tmpl-undefined-function"], "{{ nothing 1 }}", { fails: true }),
  only("a field that does not exist", ["extra/tmpl-bad-field"], "{{ .Nothing }}", { fails: true }),
  only("a template that fails", ["extra/tmpl-fail"], '{{ fail "on purpose" }}', { fails: true }),
  only("a template that renders no YAML", ["extra/tmpl-invalid-yaml"], "spec: [", { fails: true }),
  {
    name: "a template that nothing uses and that cannot be parsed",
    like: ["extra/tmpl-parse-error-in-unused-template"],
    manifest: text(pod()),
    templates: { unused: "{{ if }}" },
    fails: true,
  },
  {
    name: "a configuration that is a template itself",
    like: ["extra/direct-template-file"],
    manifest: text(pod()),
    config:
      "spec:\n  containers:\n  - name: istio-proxy\n    image: {{ .Values.global.hub }}/x:{{ .Values.global.tag }}\n",
    native: false,
  },
  only("no documents", ["extra/empty-input"], PROXY, { manifest: "" }),
  only("documents of other kinds stay as they are", ["extra/passthrough-verbatim"], PROXY, {
    manifest: `# the first line
apiVersion: v1
kind: Service   # beside it
metadata:
  name: shop
  annotations: {z: "1",   a: '2'}
---
# a comment alone
---

--- # beside the separator
apiVersion: example.com/v1
kind: Shop
spec: {b: 1, a: 2}
---
apiVersion: apps/v1
kind: DeploymentList
items: []
`,
  }),
  only("a manifest as JSON", ["extra/json-input"], PROXY, { manifest: JSON.stringify(pod()) }),
  only("text beside a separator", ["extra/bad-separator"], PROXY, {
    manifest: "apiVersion: v1\nkind: Pod\n--- text\nkind: x\n",
    fails: true,
  }),
  only("a manifest that is no YAML", ["extra/yaml-syntax-error"], PROXY, { manifest: "kind: [\n", fails: true }),
  {
    name: "a document that fails after one that does not",
    like: ["extra/partial-output-then-error"],
    manifest: text(
      pod({}, { name: "good" }),
      pod({ annotations: { "status.sidecar.istio.io/port": "x" } }, { name: "bad" }),
    ),
    native: false,
    fails: true,
  },
  only("quantities", ["extra/quantities"], PROXY, {
    manifest: `apiVersion: v1
kind: Pod
metadata: {name: q}
spec:
  containers:
  - name: c
    image: x
    resources:
      limits: {a: 2000m, b: 2048Ki, c: 2.5Gi, d: 0.2, e: 2e3, f: 2E, g: "2500", h: 2.5, i: 0, j: "0.0002", k: 200u, l: 2000000,
        m: "2Ei", n: 2097152Ki, o: 23456789Ki, p: "2.0", q: "-7m", r: 3000000k, s: "2e-3", t: "2.5e3", u: "7000e-3", v: "0.25Gi",
        w: "0.25Ki", x: "+2", y: ".25", z: "2.", aa: 2049Mi, ab: "2000Ki", ac: "2048", ad: 2048M, ae: 20n, af: "0.2n",
        ag: 256974848, ah: 257e6, ai: 257M, aj: 256974848000m, ak: 246Mi, al: "2e6", am: "2000e3", an: 2.2Mi}
`,
  }),
  only("texts that YAML quotes", ["extra/yaml-emitter"], PROXY, {
    manifest: `apiVersion: v1
kind: Pod
metadata:
  name: y
  annotations:
    b10: x
    b9: x
    B1: x
    b_1: x
    b.1: x
    "no": "yes"
    "off": "false"
    m1: "2_000"
    m2: "0xFF"
    m3: "2e5"
    m4: "017"
    m5: "2.5"
    m6: "2002-02-02"
    m7: "11:20:35"
    m8: "~"
    m9: "null"
    m10: "0o17"
    m11: "-"
    m12: "- b"
    m13: "c: d"
    m14: "c #d"
    m15: "#d"
    m16: " first"
    m17: "last "
    m18: ""
    m19: "tab\\there"
    m20: "one\\ntwo"
    m21: "one\\ntwo\\n"
    m22: "one\\n\\n"
    m23: "  one\\ntwo"
    m24: "ünïcode ✓ 😀"
    m25: "bell\\u0007"
    m26: "${"many words ".repeat(14)}"
    m27: "it's \\"said\\""
    m28: "%x"
    m29: "@x"
    m30: "&x"
    m31: "*x"
    m32: "[x"
    m33: "{x"
    m34: "a,b]"
spec:
  containers: [{name: c, image: x}]
`,
  }),
  only("values of YAML that are no texts where texts belong", ["extra/yaml-coercion"], PROXY, {
    manifest: `apiVersion: v1
kind: Pod
metadata:
  name: 456
  labels: {i: n, j: y, k: on, a: 2, b: false, c: 2.50, d: 0x20, e: 020, f: no, g: 2e4, h: 2002-02-02}
spec:
  containers:
  - name: c
    image: x
    args: [2, false, 2.0, null, 98765432109876543210]
    env: [{name: A, value: 6}, {name: B, value: yes}]
    ports: [{containerPort: 81}]
`,
  }),
];
