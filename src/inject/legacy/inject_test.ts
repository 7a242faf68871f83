import assert from "node:assert/strict";
import { MeshError } from "../../base/errors.ts";
import { isMap, mapAt, mapsAt, newMap, textAt, type Value, type ValueMap } from "../../base/value.ts";
import { parseDocument, parseYaml } from "../../yaml/mod.ts";
import { changeDocument } from "../document/document.ts";
import { injection } from "../inject_document.ts";
import { newInjector } from "../injector.ts";
import { containersOf, labelsOf, metadataOf, type Pod, specOf } from "../pod/pod.ts";
import { injectPod } from "../inject_pod.ts";
import { podOwner } from "../pod/workload.ts";

interface Given {
  readonly template: string;
  readonly values?: string;
  readonly mesh?: string;
  readonly more?: string;
  readonly env?: Record<string, string>;
}

function inject(podText: string | Pod, { template, values, mesh, more = "", env = {} }: Given): Pod {
  const pod = typeof podText === "string" ? asMap(parseYaml(podText, "")) : podText;
  const config = `policy: enabled\n${more}template: |\n${template.replace(/^/gm, "  ")}`;
  const injector = newInjector({
    config: { text: config, file: "config.yaml" },
    values: values === undefined ? undefined : { text: values, file: "values.yaml" },
    mesh: mesh === undefined ? undefined : { text: mesh, file: "mesh.yaml" },
    revision: "canary",
    byHand: false,
    env: (name) => env[name],
    now: () => new Date(0),
  });
  return injectPod(pod, podOwner(pod, "shop"), injector).pod;
}

function asMap(value: Value): ValueMap {
  return isMap(value) ? value : newMap();
}

/** Returns plain objects for `deepEqual`, because parsed mappings have no prototype. */
function plain(value: Value | undefined): unknown {
  return JSON.parse(JSON.stringify(value, (_key, item) => typeof item === "bigint" ? Number(item) : item));
}

function names(pod: Pod, list: string): string[] {
  return mapsAt(specOf(pod), list).map((item) => textAt(item, "name"));
}

function proxyOf(pod: Pod): ValueMap {
  return containersOf(pod, "containers").find((container) => container["name"] === "istio-proxy") ?? newMap();
}

function env(container: ValueMap, name: string): string | undefined {
  const found = mapsAt(container, "env").find((variable) => variable["name"] === name);
  return found === undefined ? undefined : textAt(found, "value");
}

function annotations(pod: Pod): ValueMap {
  return mapAt(metadataOf(pod), "annotations");
}

const POD =
  "metadata: {name: web, labels: {app: web}}\nspec: {containers: [{name: app, ports: [{containerPort: 80}]}]}\n";

const BRACKETS = `initContainers:
- name: istio-init
  image: init
  args: ["-p", [[ .MeshConfig.ProxyListenPort ]], "-b", "[[ includeInboundPorts .Spec.Containers ]]"]
  restartPolicy: Always
containers:
- name: istio-proxy
  image: [[ annotation .ObjectMeta \`sidecar.istio.io/proxyImage\` "proxy" ]]
  args: [--statusPort, 15020, --drain, [[ formatDuration .ProxyConfig.DrainDuration ]]]
  resources: {limits: {cpu: 1500m}}
  securityContext: {fsGroup: 7, runAsUser: 1337}
volumes:
- name: istio-certs
  secret: {secretName: "istio.[[ valueOrDefault .Spec.ServiceAccountName "default" ]]"}
`;

const BRACES = `rewriteAppHTTPProbe: {{ valueOrDefault .Values.rewrite false }}
initContainers:
- name: istio-init
  image: {{ .Values.global.hub | lower | quote }}
containers:
- name: istio-proxy
  image: proxy
  env:
  - name: OWNER
    value: {{ .TypeMeta.Kind }}/{{ .DeploymentMeta.Name }}
volumes:
- name: istio-envoy
  emptyDir: {medium: Memory}
imagePullSecrets:
- name: pull
podRedirectAnnot:
  sidecar.istio.io/interceptionMode: "{{ .ProxyConfig.InterceptionMode }}"
  traffic.sidecar.istio.io/kubevirtInterfaces: "{{ index .ObjectMeta.Annotations "traffic.sidecar.istio.io/kubevirtInterfaces" }}"
`;
const VALUES = "global: {hub: HUB}\n";

Deno.test("injectPod: a template with [[ ]] appends its lists, and writes the status annotation only", () => {
  const pod = inject(POD, { template: BRACKETS });
  assert.deepEqual(names(pod, "containers"), ["app", "istio-proxy"]);
  assert.deepEqual(names(pod, "initContainers"), ["istio-init"]);
  assert.deepEqual(plain(specOf(pod)["volumes"]), [{ name: "istio-certs", secret: { secretName: "istio.default" } }]);
  assert.deepEqual(Object.keys(annotations(pod)), ["sidecar.istio.io/status"]);
  assert.deepEqual({ ...labelsOf(pod) }, { app: "web" });
  assert.equal(specOf(pod)["securityContext"], undefined);
});

Deno.test("injectPod: the output of old templates is typed: numbers become text, unknown fields and restart policies are dropped", () => {
  const pod = inject(POD, { template: BRACKETS });
  const init = containersOf(pod, "initContainers")[0] ?? newMap();
  assert.deepEqual(init["args"], ["-p", "15001", "-b", "80"]);
  assert.equal(init["restartPolicy"], undefined);
  const proxy = proxyOf(pod);
  assert.deepEqual(proxy["args"], ["--statusPort", "15020", "--drain", "2s", "--concurrency", "2"]);
  assert.deepEqual({ ...mapAt(proxy, "securityContext") }, { runAsUser: 1337 });
});

Deno.test("injectPod: the status annotation leads with the hash of the template", () => {
  const status = textAt(
    annotations(inject(POD, { template: "containers:\n- name: istio-proxy\n" })),
    "sidecar.istio.io/status",
  );
  assert.equal(
    status,
    '{"version":"287e8258861b085a2e65c3e85913f0e73a34866291091a49e5c14d8b205b7ae9","initContainers":null,' +
      '"containers":["istio-proxy"],"volumes":null,"imagePullSecrets":null}',
  );
});

Deno.test("injectPod: a template with {{ }} has values and sprig; 1.8 labels the pod, merges metrics and sets fsGroup", () => {
  const pod = inject(POD, { template: BRACES, values: VALUES });
  assert.equal(containersOf(pod, "initContainers")[0]?.["image"], "hub");
  assert.equal(env(proxyOf(pod), "OWNER"), "Pod/web");
  assert.deepEqual(names(pod, "imagePullSecrets"), ["pull"]);
  assert.deepEqual({ ...mapAt(specOf(pod), "securityContext") }, { fsGroup: 1337 });
  assert.deepEqual({ ...labelsOf(pod) }, {
    app: "web",
    "security.istio.io/tlsMode": "istio",
    "istio.io/rev": "canary",
    "service.istio.io/canonical-name": "web",
    "service.istio.io/canonical-revision": "latest",
  });
  assert.deepEqual(Object.keys(annotations(pod)).sort(), [
    "prometheus.io/path",
    "prometheus.io/port",
    "prometheus.io/scrape",
    "sidecar.istio.io/status",
  ]);
});

Deno.test("injectPod: existing labels stay", () => {
  const labels = "{security.istio.io/tlsMode: disabled, istio.io/rev: mine, app.kubernetes.io/name: shop, version: v2}";
  const pod = inject(`metadata: {labels: ${labels}}\nspec: {containers: [{name: app}]}`, {
    template: BRACES,
    values: VALUES,
  });
  assert.equal(labelsOf(pod)["security.istio.io/tlsMode"], "disabled");
  assert.equal(labelsOf(pod)["istio.io/rev"], "mine");
  assert.equal(labelsOf(pod)["service.istio.io/canonical-name"], "shop");
  assert.equal(labelsOf(pod)["service.istio.io/canonical-revision"], "v2");
});

Deno.test("injectPod: ENABLE_LEGACY_FSGROUP_INJECTION=false leaves fsGroup to the user", () => {
  const pod = inject(POD, { template: BRACES, values: VALUES, env: { ENABLE_LEGACY_FSGROUP_INJECTION: "false" } });
  assert.equal(specOf(pod)["securityContext"], undefined);
});

const FS_GROUPS: readonly (readonly [string, Given, boolean])[] = [
  ["1.1 with an SDS socket", { template: BRACKETS, mesh: "sdsUdsPath: unix:/sds" }, false],
  ["1.1 with an SDS socket and tokens", {
    template: BRACKETS,
    mesh: "sdsUdsPath: unix:/sds\nenableSdsTokenMount: true",
  }, true],
  ["1.7 with an SDS socket", { template: BRACES, values: VALUES, mesh: "sdsUdsPath: unix:/sds" }, true],
  ["1.7 without", { template: BRACES, values: VALUES, mesh: "disablePolicyChecks: true" }, false],
];

for (const [name, given, expected] of FS_GROUPS) {
  Deno.test(`injectPod: fsGroup of ${name}: ${expected}`, () => {
    const spec = specOf(inject("spec: {securityContext: {runAsUser: 5}, containers: [{name: app}]}", given));
    assert.deepEqual({ ...mapAt(spec, "securityContext") }, { runAsUser: 5, ...(expected ? { fsGroup: 1337 } : {}) });
  });
}

const REDIRECTS: readonly (readonly [string, Partial<Given>, string | undefined])[] = [
  ["1.7 writes them", { mesh: "disablePolicyChecks: true" }, "REDIRECT"],
  ["1.8 leaves them out without the CNI plugin", {}, undefined],
  ["1.8 writes them for the CNI plugin", { values: `${VALUES}istio_cni: {enabled: true}\n` }, "REDIRECT"],
];

for (const [name, given, expected] of REDIRECTS) {
  Deno.test(`injectPod: annotations for traffic capture: ${name}`, () => {
    const written = annotations(inject(POD, { template: BRACES, values: VALUES, ...given }));
    assert.equal(written["sidecar.istio.io/interceptionMode"], expected);
    assert.equal(written["traffic.sidecar.istio.io/kubevirtInterfaces"], undefined);
  });
}

Deno.test("injectPod: the proxy is first if the application waits for it, istio-validation always", () => {
  const template =
    "initContainers:\n- name: istio-init\n- name: istio-validation\ncontainers:\n- name: istio-proxy\n- name: other\n";
  const user = "spec: {initContainers: [{name: mine}], containers: [{name: app}]}";
  const held = inject(user, { template, values: "global: {proxy: {holdApplicationUntilProxyStarts: true}}" });
  assert.deepEqual(names(held, "initContainers"), ["istio-validation", "mine", "istio-init"]);
  assert.deepEqual(names(held, "containers"), ["istio-proxy", "app", "other"]);
  const annotated =
    `metadata: {annotations: {proxy.istio.io/config: "holdApplicationUntilProxyStarts: true"}}\n${user}`;
  assert.deepEqual(names(inject(annotated, { template }), "containers"), ["istio-proxy", "app", "other"]);
  assert.deepEqual(names(inject(user, { template }), "containers"), ["app", "istio-proxy", "other"]);
});

Deno.test("injectPod: dnsConfig of the template replaces the pod's, which stays if the template has none", () => {
  const user = "spec: {dnsConfig: {searches: [mine]}, containers: [{name: app}]}";
  const template = "containers:\n- name: istio-proxy\n";
  assert.deepEqual(mapAt(specOf(inject(user, { template })), "dnsConfig")["searches"], ["mine"]);
  const rendered = `${template}dnsConfig:\n  searches:\n  - {{ render "{{ .ObjectMeta.Name }}.global" }}\n`;
  const named = `metadata: {name: web}\n${user}`;
  assert.deepEqual(mapAt(specOf(inject(named, { template: rendered })), "dnsConfig")["searches"], ["web.global"]);
});

Deno.test("injectPod: the proxy gets the token that the application mounts", () => {
  const path = "/var/run/secrets/kubernetes.io/serviceaccount";
  const pod = inject(`spec: {containers: [{name: app, volumeMounts: [{name: token, mountPath: ${path}}]}]}`, {
    template: BRACKETS,
  });
  assert.deepEqual(mapsAt(proxyOf(pod), "volumeMounts").map((mount) => mount["name"]), ["token"]);
});

Deno.test("injectPod: injectedAnnotations are written", () => {
  const pod = inject(POD, { template: BRACES, values: VALUES, more: "injectedAnnotations: {psp: restricted}\n" });
  assert.equal(annotations(pod)["psp"], "restricted");
});

Deno.test("injectPod: cluster and network reach the proxy of 1.8, and the network the pod's labels", () => {
  const pod = inject(POD, {
    template: BRACES,
    values: "global: {hub: h, network: net1, multiCluster: {clusterName: c1}}",
  });
  assert.equal(env(proxyOf(pod), "ISTIO_META_CLUSTER_ID"), "c1");
  assert.equal(env(proxyOf(pod), "ISTIO_META_NETWORK"), "net1");
  assert.equal(labelsOf(pod)["topology.istio.io/network"], "net1");
});

Deno.test("injectPod: a CronJob that is guessed from its Job has the version of that time", () => {
  const owner = "{apiVersion: batch/v1, kind: Job, name: tick-1599753180, controller: true}";
  const template =
    "containers:\n- name: istio-proxy\n  image: {{ .TypeMeta.APIVersion }}/{{ .TypeMeta.Kind }}/{{ .DeploymentMeta.Name }}\n";
  const pod = inject(
    `metadata: {generateName: tick-, ownerReferences: [${owner}]}\nspec: {containers: [{name: app}]}`,
    { template },
  );
  assert.equal(proxyOf(pod)["image"], "batch/v1beta1/CronJob/tick");
});

Deno.test("injectPod: re-injection removes the first injection", () => {
  const given = { template: BRACES.replace("false", "true"), values: VALUES };
  const user = `metadata:
  name: web
  annotations: {prometheus.io/port: "9090"}
spec:
  containers:
  - name: app
    readinessProbe: {httpGet: {path: /ready, port: 8080}, timeoutSeconds: 2}
  volumes: [{name: data}]
`;
  const once = inject(user, given);
  assert.equal(env(proxyOf(once), "ISTIO_PROMETHEUS_ANNOTATIONS"), '{"scrape":"","path":"","port":"9090"}');
  assert.deepEqual(plain(inject(once, given)), plain(once));
  assert.deepEqual(plain(inject(inject(user, { template: BRACKETS }), given)), plain(once));
});

Deno.test("injectPod: without a status annotation the names of older releases are removed", () => {
  const user = `spec:
  initContainers: [{name: istio-init}, {name: enable-core-dump}, {name: mine}]
  containers: [{name: istio-proxy, image: old}, {name: app}]
  volumes: [{name: istio-certs}, {name: data}]
`;
  const pod = inject(user, { template: BRACES, values: VALUES });
  assert.deepEqual(names(pod, "initContainers"), ["mine", "istio-init"]);
  assert.deepEqual(names(pod, "containers"), ["app", "istio-proxy"]);
  assert.equal(proxyOf(pod)["image"], "proxy");
  assert.deepEqual(names(pod, "volumes"), ["data", "istio-envoy"]);
});

function failure(action: () => unknown): MeshError {
  try {
    action();
  } catch (error) {
    if (error instanceof MeshError) return error;
    throw error;
  }
  return assert.fail("nothing failed");
}

Deno.test("loadInjector: an unknown function is an error with its place", () => {
  const error = failure(() => inject(POD, { template: "containers:\n- name: [[ nonsense .ObjectMeta.Name ]]\n" }));
  assert.match(error.message, /^The template cannot be parsed: .*function "nonsense" not defined/);
  assert.deepEqual(error.place, { file: "config.yaml", field: "template" });
});

const FAILURES: readonly (readonly [string, string, RegExp])[] = [
  ["fails", "containers: [[ .Nope ]]\n", /^The template failed: .*can't evaluate field Nope/],
  [
    "reads values, which 1.1 does not have",
    "containers: [[ .Values ]]\n",
    /^The template failed: .*can't evaluate field Values/,
  ],
  ["does not render YAML", 'containers: {[[ "[" ]]\n', /^The template does not render YAML: .*in line 1: /],
  ["does not render a mapping", '[[ "text" ]]\n', /^The template does not render a mapping with "initContainers"/],
  [
    "renders no containers",
    "containers: [[ 5 ]]\n",
    /^The template renders fields that are invalid in a pod: "containers" must be/,
  ],
];

for (const [name, template, message] of FAILURES) {
  Deno.test(`injectPod: a template that ${name} is an error`, () => {
    assert.match(failure(() => inject(POD, { template })).message, message);
  });
}

Deno.test("injectPod: annotations are checked as in the release", () => {
  const pod =
    `metadata: {annotations: {readiness.status.sidecar.istio.io/applicationPorts: "80,no"}}\nspec: {containers: [{name: app}]}`;
  assert.match(failure(() => inject(pod, { template: BRACKETS })).message, /applicationPorts/);
});

const LOADED = { env: () => undefined, now: () => new Date(0), byHand: true };

Deno.test("loadInjector: notes report the release of an old configuration, and that it has no native sidecars", () => {
  const config = { text: "template: 'containers: [[ 1 ]]'", file: "config.yaml" };
  const notes = newInjector({ ...LOADED, config, nativeSidecars: true }).notes;
  assert.match(notes[0] ?? "", /treated as Istio 1\.1: its template uses "\[\["/);
  assert.match(notes[1] ?? "", /^This configuration does not support native sidecars/);
  assert.equal(newInjector({ ...LOADED, config }).notes.length, 1);
});

Deno.test("injection: 1.8 warns about every unknown annotation of Istio, 1.1 does not", () => {
  const text = "kind: Pod\nmetadata: {annotations: {x.istio.io/mine: a}}\nspec: {containers: [{name: app}]}\n";
  const warningsOf = (template: string) => {
    const injector = newInjector({ ...LOADED, config: { text: template, file: "template" } });
    return changeDocument(parseDocument({ text }), injection(injector), { output: "yaml" }).entries[0]?.warnings ?? [];
  };
  assert.match(warningsOf("containers:\n- name: istio-proxy\n").join(), /Unknown annotation "x\.istio\.io\/mine"/);
  assert.deepEqual(warningsOf("containers:\n- name: [[ `istio-proxy` ]]\n"), []);
});
