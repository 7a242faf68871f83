/** Our own configurations for releases with `templates`. Each reads the data that changed between these releases. */
import type { Later } from "./later_cases.ts";

/** Facts that a template can print, with the releases that provide them. */
const FACTS: readonly {
  readonly name: string;
  readonly text: string;
  readonly since?: number;
  readonly until?: number;
}[] = [
  {
    name: "workload",
    text: "{{ .TypeMeta.APIVersion }} {{ .TypeMeta.Kind }} {{ .DeploymentMeta.Namespace }}/{{ .DeploymentMeta.Name }}",
  },
  {
    name: "workload-labels",
    text: "{{ toJSON .DeploymentMeta.Labels }} {{ toJSON .DeploymentMeta.Annotations }}",
    until: 21,
  },
  { name: "account", text: '{{ .Spec.ServiceAccountName | default "default" }} {{ .Spec.HostNetwork }}' },
  { name: "revision", text: '{{ .Revision | default "default" }}' },
  { name: "threads", text: "{{ .EstimatedConcurrency }}", until: 17 },
  { name: "concurrency", text: "{{ .ProxyConfig.Concurrency.GetValue }}" },
  { name: "image", text: "{{ .ProxyImage }}", since: 13 },
  { name: "user", text: "{{ .ProxyUID }}:{{ .ProxyGID }}", since: 20 },
  { name: "compliance", text: "{{ .CompliancePolicy | quote }}", since: 20 },
  { name: "inbound", text: "{{ .InboundTrafficPolicyMode }}", since: 22 },
  {
    name: "mode",
    text:
      '{{ .ProxyConfig.InterceptionMode }} {{ .ProxyConfig.InterceptionMode.String }} {{ printf "%d" .ProxyConfig.InterceptionMode }}',
  },
  {
    name: "durations",
    text: "{{ formatDuration .ProxyConfig.DrainDuration }} {{ formatDuration .ProxyConfig.TerminationDrainDuration }}",
  },
  { name: "parent-shutdown", text: "{{ formatDuration .ProxyConfig.ParentShutdownDuration }}", until: 16 },
  {
    name: "tracing",
    text: "{{ .ProxyConfig.GetTracing.GetZipkin.GetAddress }} {{ .ProxyConfig.GetTracing.GetSampling }}",
  },
  { name: "hold", text: "{{ .ProxyConfig.HoldApplicationUntilProxyStarts.GetValue }}" },
  {
    name: "mesh",
    text:
      "{{ .MeshConfig.TrustDomain }} {{ .MeshConfig.RootNamespace }} {{ .MeshConfig.ProxyListenPort }} {{ .MeshConfig.EnableTracing }} {{ .MeshConfig.GetEnableAutoMtls.GetValue }} {{ .MeshConfig.GetOutboundTrafficPolicy.GetMode }}",
  },
  {
    name: "ports",
    text:
      '{{ excludeInboundPort 15020 "1, 2" }} {{ includeInboundPorts .Spec.Containers }} {{ applicationPorts .Spec.Containers }}',
  },
  { name: "json", text: '{{ toJSON .ObjectMeta.Labels }} {{ structToJSON .Spec }} {{ fromJSON "[1,2.5,true,null]" }}' },
  {
    name: "networks",
    text: '{{ appendMultusNetwork "" "n" }} {{ appendMultusNetwork "a" "d/n" }} {{ appendMultusNetwork "[{}]" "d/n" }}',
  },
  { name: "interfaces", text: '{{ index .ObjectMeta.Annotations "traffic.sidecar.istio.io/excludeInterfaces" }}' },
  {
    name: "texts",
    text:
      '{{ toLower "ABC" }} {{ contains "b" "abc" }} {{ directory "/a/b" }} {{ valueOrDefault "" "x" }} {{ env "NOT_SET" "y" }}',
  },
  {
    name: "maps",
    text: '{{ toJsonMap (strdict "a" "b") (strdict "c" "1") }} {{ omit .ObjectMeta.Labels "app" }}',
    since: 20,
  },
  { name: "merged", text: '{{ mergeMaps (strdict "a" "b") .ObjectMeta.Labels }}', since: 22 },
  { name: "missing", text: '{{ .Values.missing }} {{ annotation .ObjectMeta "none" .Values.missing }}' },
];

const SIDECAR = (release: Later, minor: number) => `
{{- $native := eq (env "ENABLE_NATIVE_SIDECARS" "false") "true" }}
{{- $mode := annotation .ObjectMeta "sidecar.istio.io/interceptionMode" .ProxyConfig.InterceptionMode }}
{{- $proxy := .Values.global.proxy }}
{{- $port := annotation .ObjectMeta "status.sidecar.istio.io/port" $proxy.statusPort }}
metadata:
  labels:
    security.istio.io/tlsMode: {{ index .ObjectMeta.Labels "security.istio.io/tlsMode" | default "istio" | quote }}
    service.istio.io/canonical-name: {{ index .ObjectMeta.Labels "app" | default .DeploymentMeta.Name | quote }}
  annotations:
    istio.io/rev: {{ .Revision | default "default" | quote }}
spec:
  {{- if ge (len .Values.global.imagePullSecrets) 1 }}
  imagePullSecrets:
  {{- range .Values.global.imagePullSecrets }}
  - name: {{ . }}
  {{- end }}
  {{- end }}
  {{- if eq (env "ENABLE_LEGACY_FSGROUP_INJECTION" "true") "true" }}
  securityContext:
    fsGroup: 1337
  {{- end }}
  initContainers:
  {{- if ne $mode "NONE" }}
  - name: {{ if .Values.pilot.cni.enabled }}istio-validation{{ else }}istio-init{{ end }}
    image: example.com/proxyv2:${release}
    args:
    - istio-iptables
    - "-m"
    - {{ $mode | quote }}
    - "-i"
    - {{ annotation .ObjectMeta "traffic.sidecar.istio.io/includeOutboundIPRanges" $proxy.includeIPRanges | quote }}
    - "-x"
    - {{ annotation .ObjectMeta "traffic.sidecar.istio.io/excludeOutboundIPRanges" $proxy.excludeIPRanges | quote }}
    - "-b"
    - {{ annotation .ObjectMeta "traffic.sidecar.istio.io/includeInboundPorts" "*" | quote }}
    - "-d"
    - "15090,15021,{{ excludeInboundPort $port (annotation .ObjectMeta "traffic.sidecar.istio.io/excludeInboundPorts" $proxy.excludeInboundPorts) }}"
  {{- end }}
  {{- if not $native }}
  containers:
  {{- end }}
  - name: istio-proxy
    {{- if $native }}
    restartPolicy: Always
    {{- end }}
    image: {{ annotation .ObjectMeta "sidecar.istio.io/proxyImage" ${
  minor < 13 ? '(printf "%s/%s:%s" .Values.global.hub $proxy.image .Values.global.tag)' : ".ProxyImage"
} | quote }}
    {{- if .Values.global.imagePullPolicy }}
    imagePullPolicy: {{ .Values.global.imagePullPolicy }}
    {{- end }}
    args: [proxy, sidecar]
    ports:
    - {containerPort: 15090, protocol: TCP, name: http-envoy-prom}
    {{- if $proxy.lifecycle }}
    lifecycle:
      {{- toYaml $proxy.lifecycle | nindent 6 }}
    {{- else if or .ProxyConfig.HoldApplicationUntilProxyStarts.GetValue $proxy.holdApplicationUntilProxyStarts }}
    lifecycle:
      postStart: {exec: {command: [pilot-agent, wait]}}
    {{- end }}
    env:
    - name: PROXY_CONFIG
      value: |
             {{ protoToJSON .ProxyConfig }}
    - name: ISTIO_META_POD_PORTS
      value: |-
        [
        {{- $first := true }}
        {{- range $index1, $c := .Spec.Containers }}
          {{- range $index2, $p := $c.Ports }}
            {{- if (structToJSON $p) }}
            {{if not $first}},{{end}}{{ structToJSON $p }}
            {{- $first = false }}
            {{- end }}
          {{- end }}
        {{- end }}
        ]
    {{- range $key, $value := .ProxyConfig.ProxyMetadata }}
    - name: {{ $key }}
      value: "{{ $value }}"
    {{- end }}
    {{- if ne $port "0" }}
    readinessProbe:
      httpGet: {path: /healthz/ready, port: 15021}
      initialDelaySeconds: {{ annotation .ObjectMeta "readiness.status.sidecar.istio.io/initialDelaySeconds" $proxy.readinessInitialDelaySeconds }}
      periodSeconds: {{ annotation .ObjectMeta "readiness.status.sidecar.istio.io/periodSeconds" $proxy.readinessPeriodSeconds }}
    {{- end }}
    securityContext:
      privileged: {{ $proxy.privileged }}
      runAsUser: {{ if eq $mode "TPROXY" }}0{{ else }}1337{{ end }}
    resources:
      requests:
        cpu: {{ index .ObjectMeta.Annotations "sidecar.istio.io/proxyCPU" | default "10m" | quote }}
        memory: {{ index .ObjectMeta.Annotations "sidecar.istio.io/proxyMemory" | default "40Mi" | quote }}
    volumeMounts:
    - {mountPath: /etc/istio/proxy, name: istio-envoy}
    {{- if isset .ObjectMeta.Annotations "sidecar.istio.io/userVolumeMount" }}
    {{- range $index, $value := fromJSON (index .ObjectMeta.Annotations "sidecar.istio.io/userVolumeMount") }}
    - name: "{{ $index }}"
      {{ toYaml $value | indent 6 }}
    {{- end }}
    {{- end }}
  volumes:
  - name: istio-envoy
    emptyDir: {medium: Memory}
  {{- if isset .ObjectMeta.Annotations "sidecar.istio.io/userVolume" }}
  {{- range $index, $value := fromJSON (index .ObjectMeta.Annotations "sidecar.istio.io/userVolume") }}
  - name: "{{ $index }}"
    {{ toYaml $value | indent 4 }}
  {{- end }}
  {{- end }}
`;

/** Fields of a configuration besides the sidecar template. */
export interface MoreConfig {
  readonly defaultTemplates?: readonly string[];
  readonly templates?: Readonly<Record<string, string>>;
  readonly injectedAnnotations?: Readonly<Record<string, string>>;
}

/**
 * Returns the configuration for a release. kube-inject uses only one template, whatever `defaultTemplates` contains.
 */
export function laterConfig(release: Later, { templates = {}, ...more }: MoreConfig = {}): string {
  const minor = Number(release.slice(2));
  const facts = FACTS.filter(({ since = 0, until = minor }) => since <= minor && minor <= until)
    .map(({ name, text }) => `    example.com/${name}: |-\n      ${text}\n`).join("");
  const sidecar = SIDECAR(release, minor).replace("  annotations:\n", `  annotations:\n${facts}`);
  return JSON.stringify({ policy: "enabled", ...more, templates: { sidecar, ...templates } });
}
