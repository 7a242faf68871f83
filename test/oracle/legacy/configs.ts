/** Our own configurations in the formats of Istio 1.1 and 1.8. */

/** With `[[ ]]` as delimiters, as in releases up to 1.2. */
export const CONFIG_1_1 = `policy: enabled
template: |-
  rewriteAppHTTPProbe: true
  initContainers:
  [[- if ne (annotation .ObjectMeta "sidecar.istio.io/interceptionMode" .ProxyConfig.InterceptionMode) "NONE" ]]
  - name: istio-init
    image: example.com/proxy_init:1.1
    args:
    - "-p"
    - [[ .MeshConfig.ProxyListenPort ]]
    - "-u"
    - 1337
    - "-m"
    - [[ annotation .ObjectMeta "sidecar.istio.io/interceptionMode" .ProxyConfig.InterceptionMode ]]
    - "-i"
    - "[[ annotation .ObjectMeta "traffic.sidecar.istio.io/includeOutboundIPRanges" "*" ]]"
    - "-x"
    - "[[ annotation .ObjectMeta "traffic.sidecar.istio.io/excludeOutboundIPRanges" "" ]]"
    - "-b"
    - "[[ annotation .ObjectMeta "traffic.sidecar.istio.io/includeInboundPorts" (includeInboundPorts .Spec.Containers) ]]"
    - "-d"
    - "[[ excludeInboundPort (annotation .ObjectMeta "status.sidecar.istio.io/port" 15020) (annotation .ObjectMeta "traffic.sidecar.istio.io/excludeInboundPorts" "") ]]"
    [[- if (isset .ObjectMeta.Annotations "traffic.sidecar.istio.io/kubevirtInterfaces") ]]
    - "-k"
    - "[[ index .ObjectMeta.Annotations "traffic.sidecar.istio.io/kubevirtInterfaces" ]]"
    [[- end ]]
    imagePullPolicy: IfNotPresent
    securityContext:
      capabilities:
        add: [NET_ADMIN]
    restartPolicy: Always
  [[- end ]]
  containers:
  - name: istio-proxy
    image: [[ annotation .ObjectMeta "sidecar.istio.io/proxyImage" "example.com/proxyv2:1.1" ]]
    ports: [{containerPort: 15090, protocol: TCP, name: http-envoy-prom}]
    args:
    - proxy
    - sidecar
    - --domain
    - $(POD_NAMESPACE).svc.cluster.local
    - --serviceCluster
    [[- if ne "" (index .ObjectMeta.Labels "app") ]]
    - [[ index .ObjectMeta.Labels "app" ]].$(POD_NAMESPACE)
    [[- else ]]
    - [[ valueOrDefault .DeploymentMeta.Name "istio-proxy" ]].[[ valueOrDefault .DeploymentMeta.Namespace "default" ]]
    [[- end ]]
    - --drainDuration
    - [[ formatDuration .ProxyConfig.DrainDuration ]]
    - --discoveryAddress
    - [[ annotation .ObjectMeta "sidecar.istio.io/discoveryAddress" .ProxyConfig.DiscoveryAddress ]]
    - --proxyAdminPort
    - [[ .ProxyConfig.ProxyAdminPort ]]
    - --controlPlaneAuthPolicy
    - [[ annotation .ObjectMeta "sidecar.istio.io/controlPlaneAuthPolicy" .ProxyConfig.ControlPlaneAuthPolicy ]]
    [[- if (ne (annotation .ObjectMeta "status.sidecar.istio.io/port" 15020) "0") ]]
    - --statusPort
    - [[ annotation .ObjectMeta "status.sidecar.istio.io/port" 15020 ]]
    - --applicationPorts
    - "[[ annotation .ObjectMeta "readiness.status.sidecar.istio.io/applicationPorts" (applicationPorts .Spec.Containers) ]]"
    [[- end ]]
    env:
    - name: POD_NAME
      valueFrom: {fieldRef: {fieldPath: metadata.name}}
    - name: ISTIO_META_INTERCEPTION_MODE
      value: [[ or (index .ObjectMeta.Annotations "sidecar.istio.io/interceptionMode") .ProxyConfig.InterceptionMode.String ]]
    [[- if .ObjectMeta.Annotations ]]
    - name: ISTIO_METAJSON_ANNOTATIONS
      value: |
             [[ toJSON .ObjectMeta.Annotations ]]
    [[- end ]]
    [[- if .ObjectMeta.Labels ]]
    - name: ISTIO_METAJSON_LABELS
      value: |
             [[ toJSON .ObjectMeta.Labels ]]
    [[- end ]]
    readinessProbe:
      httpGet:
        path: /healthz/ready
        port: [[ annotation .ObjectMeta "status.sidecar.istio.io/port" 15020 ]]
      initialDelaySeconds: [[ annotation .ObjectMeta "readiness.status.sidecar.istio.io/initialDelaySeconds" 1 ]]
      periodSeconds: [[ annotation .ObjectMeta "readiness.status.sidecar.istio.io/periodSeconds" 2 ]]
      failureThreshold: [[ annotation .ObjectMeta "readiness.status.sidecar.istio.io/failureThreshold" 30 ]]
    securityContext:
      readOnlyRootFilesystem: true
      [[- if eq (annotation .ObjectMeta "sidecar.istio.io/interceptionMode" .ProxyConfig.InterceptionMode) "TPROXY" ]]
      capabilities:
        add: [NET_ADMIN]
      runAsGroup: 1337
      [[- else ]]
      runAsUser: 1337
      [[- end ]]
    resources:
      [[- if or (isset .ObjectMeta.Annotations "sidecar.istio.io/proxyCPU") (isset .ObjectMeta.Annotations "sidecar.istio.io/proxyMemory") ]]
      requests:
        [[- if (isset .ObjectMeta.Annotations "sidecar.istio.io/proxyCPU") ]]
        cpu: "[[ index .ObjectMeta.Annotations "sidecar.istio.io/proxyCPU" ]]"
        [[- end ]]
        [[- if (isset .ObjectMeta.Annotations "sidecar.istio.io/proxyMemory") ]]
        memory: "[[ index .ObjectMeta.Annotations "sidecar.istio.io/proxyMemory" ]]"
        [[- end ]]
      [[- else ]]
      requests: {cpu: 10m}
      [[- end ]]
    volumeMounts:
    - {mountPath: /etc/istio/proxy, name: istio-envoy}
    - {mountPath: /etc/certs/, name: istio-certs, readOnly: true}
    [[- if isset .ObjectMeta.Annotations "sidecar.istio.io/userVolumeMount" ]]
    [[- range $index, $value := fromJSON (index .ObjectMeta.Annotations "sidecar.istio.io/userVolumeMount") ]]
    - name: "[[ $index ]]"
      [[ toYaml $value | indent 4 ]]
    [[- end ]]
    [[- end ]]
  volumes:
  [[- if isset .ObjectMeta.Annotations "sidecar.istio.io/userVolume" ]]
  [[- range $index, $value := fromJSON (index .ObjectMeta.Annotations "sidecar.istio.io/userVolume") ]]
  - name: "[[ $index ]]"
    [[ toYaml $value | indent 2 ]]
  [[- end ]]
  [[- end ]]
  - emptyDir: {medium: Memory}
    name: istio-envoy
  - name: istio-certs
    secret:
      optional: true
      [[- if eq .Spec.ServiceAccountName "" ]]
      secretName: istio.default
      [[- else ]]
      secretName: [[ printf "istio.%s" .Spec.ServiceAccountName ]]
      [[- end ]]
`;

/** With `{{ }}` as delimiters and with values, as in releases from 1.4 to 1.8. */
export const CONFIG_1_8 = `policy: enabled
template: |
  {{- $mode := annotation .ObjectMeta "sidecar.istio.io/interceptionMode" .ProxyConfig.InterceptionMode }}
  rewriteAppHTTPProbe: {{ valueOrDefault .Values.sidecarInjectorWebhook.rewriteAppHTTPProbe false }}
  initContainers:
  {{- if ne $mode "NONE" }}
  {{- if .Values.istio_cni.enabled }}
  - name: istio-validation
  {{- else }}
  - name: istio-init
  {{- end }}
    image: "{{ .Values.global.hub }}/{{ .Values.global.proxy_init.image }}:{{ .Values.global.tag }}"
    args:
    - istio-iptables
    - "-p"
    - 15001
    - "-m"
    - "{{ $mode }}"
    - "-i"
    - "{{ annotation .ObjectMeta "traffic.sidecar.istio.io/includeOutboundIPRanges" .Values.global.proxy.includeIPRanges }}"
    - "-x"
    - "{{ annotation .ObjectMeta "traffic.sidecar.istio.io/excludeOutboundIPRanges" .Values.global.proxy.excludeIPRanges }}"
    - "-b"
    - "{{ annotation .ObjectMeta "traffic.sidecar.istio.io/includeInboundPorts" "*" }}"
    - "-d"
    - "15090,15021,{{ excludeInboundPort (annotation .ObjectMeta "status.sidecar.istio.io/port" .Values.global.proxy.statusPort) (annotation .ObjectMeta "traffic.sidecar.istio.io/excludeInboundPorts" .Values.global.proxy.excludeInboundPorts) }}"
    {{- if or (isset .ObjectMeta.Annotations "traffic.sidecar.istio.io/excludeOutboundPorts") (ne (valueOrDefault .Values.global.proxy.excludeOutboundPorts "") "") }}
    - "-o"
    - "{{ annotation .ObjectMeta "traffic.sidecar.istio.io/excludeOutboundPorts" .Values.global.proxy.excludeOutboundPorts }}"
    {{- end }}
    {{- if (isset .ObjectMeta.Annotations "traffic.sidecar.istio.io/kubevirtInterfaces") }}
    - "-k"
    - "{{ index .ObjectMeta.Annotations "traffic.sidecar.istio.io/kubevirtInterfaces" }}"
    {{- end }}
    {{ if .Values.global.imagePullPolicy }}imagePullPolicy: "{{ .Values.global.imagePullPolicy }}"{{ end }}
    resources:
      limits: {cpu: 2000m, memory: 1024Mi}
  {{- end }}
  containers:
  - name: istio-proxy
    image: {{ annotation .ObjectMeta "sidecar.istio.io/proxyImage" (printf "%s/%s:%s" .Values.global.hub .Values.global.proxy.image .Values.global.tag) | quote }}
    args:
    - proxy
    - sidecar
    - --serviceCluster
    {{- if ne "" (index .ObjectMeta.Labels "app") }}
    - "{{ index .ObjectMeta.Labels "app" }}.$(POD_NAMESPACE)"
    {{- else }}
    - "{{ valueOrDefault .DeploymentMeta.Name "istio-proxy" }}.{{ valueOrDefault .DeploymentMeta.Namespace "default" }}"
    {{- end }}
    - --concurrency
    - "{{ .ProxyConfig.Concurrency.GetValue }}"
    {{- if .Values.global.proxy.holdApplicationUntilProxyStarts }}
    lifecycle:
      postStart: {exec: {command: [pilot-agent, wait]}}
    {{- end }}
    env:
    - name: CA_ADDR
      value: istiod.{{ .Values.global.istioNamespace }}.svc:15012
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
    - name: ISTIO_META_WORKLOAD_NAME
      value: {{ .DeploymentMeta.Name }}
    {{- if and .TypeMeta.APIVersion .DeploymentMeta.Name }}
    - name: ISTIO_META_OWNER
      value: kubernetes://apis/{{ .TypeMeta.APIVersion }}/namespaces/{{ valueOrDefault .DeploymentMeta.Namespace "default" }}/{{ toLower .TypeMeta.Kind}}s/{{ .DeploymentMeta.Name }}
    {{- end }}
    {{- range $key, $value := .ProxyConfig.ProxyMetadata }}
    - name: {{ $key }}
      value: "{{ $value }}"
    {{- end }}
    {{- if .Values.global.proxy.privileged }}
    securityContext: {privileged: true}
    {{- else }}
    securityContext:
      runAsUser: {{ if eq $mode "TPROXY" }}0{{ else }}1337{{ end }}
    {{- end }}
    {{- if ne (annotation .ObjectMeta "status.sidecar.istio.io/port" .Values.global.proxy.statusPort) "0" }}
    readinessProbe:
      httpGet: {path: /healthz/ready, port: 15021}
      initialDelaySeconds: {{ annotation .ObjectMeta "readiness.status.sidecar.istio.io/initialDelaySeconds" .Values.global.proxy.readinessInitialDelaySeconds }}
      periodSeconds: {{ annotation .ObjectMeta "readiness.status.sidecar.istio.io/periodSeconds" .Values.global.proxy.readinessPeriodSeconds }}
      failureThreshold: {{ annotation .ObjectMeta "readiness.status.sidecar.istio.io/failureThreshold" .Values.global.proxy.readinessFailureThreshold }}
    {{- end }}
    volumeMounts:
    - {mountPath: /etc/istio/proxy, name: istio-envoy}
    {{- if .Values.global.mountMtlsCerts }}
    - {mountPath: /etc/certs/, name: istio-certs, readOnly: true}
    {{- end }}
  volumes:
  - emptyDir: {medium: Memory}
    name: istio-envoy
  {{- if .Values.global.mountMtlsCerts }}
  - name: istio-certs
    secret: {optional: true, secretName: istio.{{ .Spec.ServiceAccountName | default "default" }}}
  {{- end }}
  {{- if .Values.global.imagePullSecrets }}
  imagePullSecrets:
    {{- range .Values.global.imagePullSecrets }}
    - name: {{ . }}
    {{- end }}
  {{- end }}
`;

/** The values for {@link CONFIG_1_8}. */
export const VALUES_1_8 = {
  istio_cni: { enabled: false },
  sidecarInjectorWebhook: { rewriteAppHTTPProbe: true },
  global: {
    hub: "example.com",
    tag: "1.8",
    imagePullPolicy: "",
    imagePullSecrets: [],
    istioNamespace: "istio-system",
    mountMtlsCerts: false,
    proxy_init: { image: "proxyv2" },
    proxy: {
      image: "proxyv2",
      includeIPRanges: "*",
      excludeIPRanges: "",
      excludeInboundPorts: "",
      excludeOutboundPorts: "",
      privileged: false,
      statusPort: 15020,
      holdApplicationUntilProxyStarts: false,
      readinessInitialDelaySeconds: 1,
      readinessPeriodSeconds: 2,
      readinessFailureThreshold: 30,
    },
  },
};
