/** Users' templates with edge cases of strategic merge. */
import type { Question, Settings } from "./question.ts";

const TEMPLATES: Readonly<Record<string, string>> = {
  "delete a container": "spec:\n  containers:\n  - name: web\n    $patch: delete\n",
  "replace a container": "spec:\n  containers:\n  - name: app\n    image: new\n    $patch: replace\n",
  "replace the list": "spec:\n  containers:\n  - $patch: replace\n  - name: only\n    image: x\n",
  "null deletes":
    "metadata:\n  labels:\n    app: null\nspec:\n  volumes: null\n  dnsConfig: null\n  containers:\n  - name: app\n    env: null\n",
  "nulls in new maps":
    "spec:\n  securityContext:\n    runAsUser: null\n    fsGroup: 7\n  affinity:\n    nodeAffinity: null\n",
  "env by name":
    "spec:\n  containers:\n  - name: app\n    env:\n    - name: NEW\n      value: n\n    - name: B\n      value: changed\n    - name: F\n      value: plain\n",
  "ports by number":
    "spec:\n  containers:\n  - name: app\n    ports:\n    - containerPort: 9090\n      name: m\n    - containerPort: 1\n",
  "volumes by name":
    "spec:\n  volumes:\n  - name: data\n    configMap:\n      name: c\n  - name: z\n    emptyDir: {}\n",
  "volume source switched": "spec:\n  volumes:\n  - name: data\n    emptyDir: null\n    configMap:\n      name: c\n",
  "retainKeys":
    "spec:\n  volumes:\n  - name: data\n    $retainKeys: [name, configMap]\n    configMap:\n      name: c\n",
  "element order":
    "spec:\n  $setElementOrder/containers:\n  - name: web\n  - name: app\n  containers:\n  - name: app\n    image: q\n",
  "delete from list": "metadata:\n  $deleteFromPrimitiveList/finalizers: [a]\n",
  "finalizers": "metadata:\n  finalizers: [b, c]\n",
  "host aliases": "spec:\n  hostAliases:\n  - ip: 1.1.1.1\n    hostnames: [n]\n",
  "tolerations": "spec:\n  tolerations:\n  - key: t\n",
  "mounts by path":
    "spec:\n  containers:\n  - name: app\n    volumeMounts:\n    - mountPath: /data\n      name: z\n    - mountPath: /n\n      name: z\n",
  "order":
    "spec:\n  containers:\n  - name: new\n    image: n\n  - name: web\n    tty: true\n  - name: app\n    tty: true\n",
  "patched in between": "spec:\n  initContainers:\n  - name: x\n    image: i\n  - name: second\n    image: j\n",
  "twice in one patch": "spec:\n  containers:\n  - name: d\n    image: a\n  - name: d\n    image: b\n",
  "no merge key": "spec:\n  containers:\n  - image: x\n",
  "wrong type": "spec:\n  containers: x\n",
  "number for text": "metadata:\n  labels:\n    a: 1\n",
  "text for number": "spec:\n  terminationGracePeriodSeconds: '5'\n",
  "unknown fields": "spec:\n  unknown: {a: 1}\n  containers:\n  - name: app\n    unknown: 2\n",
  "bad directive": "spec:\n  securityContext:\n    $patch: nonsense\n",
  "replace a map": "spec:\n  securityContext:\n    $patch: replace\n    runAsUser: 3\n",
  "delete a map": "spec:\n  securityContext:\n    $patch: delete\n",
  "empty": "",
  "comment": "# nothing\n",
  "a list": "- a\n",
  "text": "hello\n",
  "empty maps": "metadata: {}\nspec: {}\n",
  "null spec": "spec: null\n",
  "two documents": "metadata:\n  labels:\n    a: b\n---\nspec:\n  hostNetwork: true\n",
  "leading separator": "---\nmetadata:\n  labels:\n    a: b\n",
  "trailing separator": "metadata:\n  labels:\n    a: b\n---\n",
  "pull secrets": "spec:\n  imagePullSecrets:\n  - name: s\n  - name: mine\n",
  "probes of the template":
    "metadata:\n  annotations:\n    sidecar.istio.io/rewriteAppHTTPProbers: 'true'\nspec:\n  containers:\n  - name: istio-proxy\n    image: p\n",
  "proxy in both":
    "spec:\n  initContainers:\n  - name: istio-proxy\n    image: p\n    restartPolicy: Always\n  containers:\n  - name: istio-proxy\n    image: q\n",
  "host network": "spec:\n  hostNetwork: true\n",
  "quantities":
    "spec:\n  containers:\n  - name: app\n    resources:\n      limits: {cpu: 2000m, memory: 1024Mi}\n      requests: {cpu: 0.5, memory: 1e3}\n",
  "booleans": "spec:\n  containers:\n  - name: fresh\n    tty: yes\n    stdin: off\n    image: 010\n",
  "int or string":
    "spec:\n  containers:\n  - name: app\n    livenessProbe:\n      httpGet: {port: 80}\n    readinessProbe:\n      httpGet: {port: web}\n",
  "probe action switched": "spec:\n  containers:\n  - name: app\n    readinessProbe:\n      tcpSocket: {port: 1}\n",
  "spread":
    "spec:\n  topologySpreadConstraints:\n  - topologyKey: zone\n    maxSkew: 2\n    whenUnsatisfiable: DoNotSchedule\n",
  "anchors": "x: &x {a: b}\nmetadata:\n  labels: *x\n  annotations:\n    <<: *x\n    c: d\n",
  "casing": "spec:\n  Containers:\n  - name: app\n    TTY: true\n",
  "args replaced": "spec:\n  containers:\n  - name: app\n    args: [x]\n    command: []\n",
};

/** Expressions over the data that templates see. Each result is printed into an annotation. */
const EXPRESSIONS: readonly string[] = [
  ".TypeMeta.Kind",
  ".TypeMeta.APIVersion",
  ".DeploymentMeta.Name",
  ".DeploymentMeta.Namespace",
  ".DeploymentMeta",
  ".ObjectMeta.Name",
  ".ObjectMeta.GenerateName",
  ".ObjectMeta.Labels",
  ".ObjectMeta.Annotations",
  ".Spec.ServiceAccountName",
  ".Spec.DNSPolicy",
  ".Spec.HostNetwork",
  "len .Spec.Containers",
  "(index .Spec.Containers 0).Name",
  "(index .Spec.Containers 0).Ports",
  ".Spec.NodeSelector",
  ".Spec.Tolerations",
  ".ProxyConfig.DrainDuration.AsDuration",
  ".ProxyConfig.GetStatusPort",
  ".ProxyConfig.InterceptionMode",
  ".ProxyConfig.ProxyMetadata",
  ".ProxyConfig.Concurrency",
  ".ProxyConfig.GetConcurrency.GetValue",
  ".ProxyConfig.GetTracing.GetTlsSettings.GetCaCertificates",
  ".ProxyConfig.GetHoldApplicationUntilProxyStarts.GetValue",
  ".ProxyConfig.DiscoveryAddress",
  ".MeshConfig.TrustDomain",
  ".MeshConfig.ProxyListenPort",
  ".MeshConfig.RootNamespace",
  ".MeshConfig.GetEnablePrometheusMerge.GetValue",
  ".MeshConfig.IngressControllerMode",
  ".Values.global.hub",
  ".Values.global.missing",
  ".Values.global.proxy.statusPort",
  ".Values.pilot",
  ".Revision",
  ".NativeSidecars",
  ".ProxyImage",
  ".ProxyInitImage",
  ".ProxyUID",
  ".ProxyGID",
  ".InboundTrafficPolicyMode",
  ".CompliancePolicy",
  "annotation .ObjectMeta `a` .Values.global.missing",
  "annotation .ObjectMeta `a` 1.5",
  "isset .ObjectMeta.Annotations `a`",
  "valueOrDefault `` `x`",
  "valueOrDefault 0 `x`",
  "valueOrDefault nil `x`",
  "excludeInboundPort 15020 `1, 2`",
  "excludeInboundPort `0` `1,2`",
  "excludeInboundPort `2` `1, 2`",
  "contains `b` `abc`",
  "toJSON .ObjectMeta.Labels",
  "structToJSON .Spec",
  "structToJSON .ObjectMeta",
  "protoToJSON .ProxyConfig",
  "fromJSON `[1,2.5,true,null]`",
  "fromJSON `x`",
  "toLower `ABC`",
  "directory `/a/b`",
  "appendMultusNetwork `` `n`",
  "appendMultusNetwork `a` `d/n`",
  "appendMultusNetwork `[{}]` `d/n`",
  "env `NOT_SET` `x`",
  "omitNil .Values.global.proxy.resources",
  "toJsonMap (strdict `a` `b`) (strdict `c` 1)",
  "mergeMaps (strdict `a` `b`) .ObjectMeta.Labels",
  "omit .ObjectMeta.Labels `app`",
  "indent 2 `a\nb`",
  "nindent 2 `a\nb`",
  "includeInboundPorts .Spec.Containers",
  "applicationPorts .Spec.Containers",
  "kubevirtInterfaces `a`",
  "excludeInterfaces `a`",
  "formatDuration .ProxyConfig.DrainDuration",
  "toYaml .Values.global.proxy.resources",
  "toYaml .Spec.Containers",
  "otelResourceAttributes .MeshConfig .ObjectMeta.Annotations .ObjectMeta.Labels .DeploymentMeta.Namespace .Spec.Containers",
  "toJson .Spec",
  "typeOf .Spec",
  "kindOf .Spec.Containers",
  "typeOf .ProxyConfig",
  "typeOf .Values.global.proxy.statusPort",
  "eq .Values.global.proxy.statusPort 15020.0",
  "printf `%v %d %T` .ProxyUID .ProxyUID .ProxyUID",
  "printf `%v` .MeshConfig.DefaultConfig.StatusPort",
  ".Values",
  ".ObjectMeta",
  ".ObjectMeta.CreationTimestamp",
  "strdict `a`",
  "omit .Values.global `hub`",
  "mergeMaps",
  "toJSON .Values.global.proxy.resources",
  "structToJSON .Values.global.proxy.resources",
];

const WORKLOAD = JSON.stringify({
  apiVersion: "apps/v1",
  kind: "Deployment",
  metadata: { name: "shop", namespace: "prod" },
  spec: {
    template: {
      metadata: {
        labels: { app: "shop", "app.kubernetes.io/version": "3" },
        annotations: { a: "b" },
        finalizers: ["a", "b"],
      },
      spec: {
        serviceAccountName: "sa",
        securityContext: { runAsUser: 5 },
        dnsConfig: { searches: ["x"] },
        hostAliases: [{ ip: "1.1.1.1", hostnames: ["m"] }, { ip: "2.2.2.2" }],
        tolerations: [{ key: "u" }],
        imagePullSecrets: [{ name: "mine" }],
        topologySpreadConstraints: [{ topologyKey: "zone", maxSkew: 1, whenUnsatisfiable: "ScheduleAnyway" }],
        terminationGracePeriodSeconds: 30,
        volumes: [{ name: "data", emptyDir: {} }, { name: "other", emptyDir: {} }],
        initContainers: [{ name: "first", image: "i" }, { name: "second", image: "i" }],
        containers: [
          {
            name: "app",
            image: "a:1",
            args: ["z"],
            ports: [{ containerPort: 8080, name: "web" }, { containerPort: 9090, protocol: "UDP" }],
            env: [{ name: "A", value: "1" }, { name: "B", value: "2" }, {
              name: "F",
              valueFrom: { fieldRef: { fieldPath: "x" } },
            }],
            volumeMounts: [{ name: "data", mountPath: "/data" }],
            readinessProbe: { httpGet: { port: "web" } },
            livenessProbe: { httpGet: { port: 15020 } },
          },
          { name: "web", image: "w" },
          { name: "istio-proxy", image: "auto", env: [{ name: "U", value: "v" }] },
        ],
      },
    },
  },
});

/** Returns questions for each template, on a pod with fields for each of them to change, and for each expression. */
export function customTemplates(base: Settings): Question[] {
  const expressions = EXPRESSIONS.map((part) => [`{{ ${part} }}`, printed(part)] as const);
  return [...Object.entries(TEMPLATES), ...expressions].flatMap(([name, text]) => {
    const settings = { ...base, config: JSON.stringify({ templates: { sidecar: text } }) };
    const question = { settings, manifest: WORKLOAD, revision: "default" };
    return [
      { ...question, name: `template ${name}`, native: false },
      { ...question, name: `template ${name}, native`, native: true },
    ];
  });
}

function printed(expression: string): string {
  return `{{- $r := ${expression} }}\nmetadata:\n  annotations:\n    result: {{ printf "%v" $r | toJson }}\n`;
}
