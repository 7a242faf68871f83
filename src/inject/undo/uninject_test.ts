import assert from "node:assert/strict";
import { isMap, type ValueMap } from "../../base/value.ts";
import { parseDocument } from "../../yaml/mod.ts";
import { changeDocument } from "../document/document.ts";
import { uninjection } from "./uninject.ts";

const STATUS = (names: Record<string, readonly string[] | null> = {}) =>
  `'${
    JSON.stringify({
      initContainers: ["istio-init"],
      containers: ["istio-proxy"],
      volumes: ["istio-envoy"],
      imagePullSecrets: null,
      revision: "default",
      ...names,
    })
  }'`;

/** Returns a pod with a proxy. `metadata` and `spec` are additional lines of these fields. */
function pod({ metadata = "", spec = "", env = "[]", status = STATUS() }): string {
  return `apiVersion: v1
kind: Pod
metadata:
  name: web
  annotations:
    sidecar.istio.io/status: ${status}
${metadata}spec:
  containers:
  - {name: app, image: a, ports: [{containerPort: 80, name: http}]}
  - {name: istio-proxy, image: p, args: [proxy, sidecar], env: ${env}}
  initContainers:
  - {name: istio-init, image: p}
  volumes:
  - {name: istio-envoy, emptyDir: {}}
${spec}`;
}

const BARE = `apiVersion: v1
kind: Pod
metadata:
  name: web
spec:
  containers:
  - {name: app, image: a, ports: [{containerPort: 80, name: http}]}
`;

function uninject(text: string) {
  const { text: output, entries } = changeDocument(parseDocument({ text }), uninjection, { output: "yaml" });
  const [entry] = entries;
  assert.ok(entry !== undefined);
  return { text: output, entry };
}

function value(text: string | undefined): ValueMap {
  const { value } = parseDocument({ text: text ?? "" });
  assert.ok(isMap(value));
  return value;
}

Deno.test("uninject: what the status annotation names goes", () => {
  const { text, entry } = uninject(pod({}));
  assert.equal(text, BARE);
  assert.deepEqual([entry.result, entry.field, entry.warnings], [
    "uninjected",
    'metadata.annotations["sidecar.istio.io/status"]',
    [],
  ]);
});

Deno.test("uninject: a pod that is not injected stays, also with a container for the templates", () => {
  const own = BARE + "  - {name: istio-proxy, image: auto}\n";
  for (const text of [BARE, own]) {
    const { text: output, entry } = uninject(text);
    assert.equal(output, text);
    assert.deepEqual([entry.result, entry.reason], ["skipped", "not-injected"]);
  }
});

Deno.test("uninject: without the annotation Istio's names decide, and a warning says so", () => {
  const { text, entry } = uninject(pod({}).replace(/ {2}annotations:\n.*\n/, ""));
  assert.equal(text, BARE);
  assert.match(entry.warnings.join(), /^The annotation "sidecar.istio.io\/status" is missing/);
});

/** Annotations, labels and fields, with the result of uninjection and its warning. */
const CASES: readonly {
  readonly name: string;
  readonly pod: Parameters<typeof pod>[0];
  readonly left: string;
  readonly warning?: RegExp;
}[] = [
  {
    name: "a pull secret of the templates",
    pod: { status: STATUS({ imagePullSecrets: ["s"] }), spec: "  imagePullSecrets: [{name: mine}, {name: s}]\n" },
    left: BARE + "  imagePullSecrets: [{name: mine}]\n",
    warning: /^spec\.imagePullSecrets: "s" removed/,
  },
  {
    name: "a volume of the user",
    pod: { spec: "  - {name: x}\n", status: STATUS({ volumes: ["istio-envoy"] }) },
    left: BARE + "  volumes:\n  - {name: x}\n",
  },
  {
    name: "the network label that the values gave",
    pod: {
      metadata: "  labels:\n    app: a\n    topology.istio.io/network: net\n",
      env: "[{name: ISTIO_META_NETWORK, value: net}]",
    },
    left: BARE.replace("spec:", "  labels:\n    app: a\nspec:"),
    warning: /^metadata\.labels\["topology\.istio\.io\/network"\]: removed/,
  },
  {
    name: "labels with other values than injection gives",
    pod: { metadata: "  labels: {security.istio.io/tlsMode: disabled, service.istio.io/canonical-name: other}\n" },
    left: BARE.replace(
      "spec:",
      "  labels: {security.istio.io/tlsMode: disabled, service.istio.io/canonical-name: other}\nspec:",
    ),
  },
  {
    name: "the default container that the user wrote before",
    pod: {
      metadata: "    kubectl.kubernetes.io/default-container: app\n    istio.io/rev: default\n" +
        "    kubectl.kubernetes.io/default-logs-container: app\n",
    },
    left: BARE.replace(
      "spec:",
      "  annotations:\n    kubectl.kubernetes.io/default-container: app\nspec:",
    ),
  },
  {
    name: "what the CNI plugin reads",
    pod: {
      status: STATUS({ initContainers: ["istio-validation"] }),
      metadata: "    traffic.sidecar.istio.io/includeInboundPorts: '*'\n" +
        "    traffic.sidecar.istio.io/excludeInboundPorts: '15020'\n" +
        "    traffic.sidecar.istio.io/excludeOutboundPorts: '3306'\n" +
        "    k8s.v1.cni.cncf.io/networks: mine, default/istio-cni\n",
      spec: "",
    },
    left: BARE.replace(
      "spec:",
      "  annotations:\n    traffic.sidecar.istio.io/excludeOutboundPorts: '3306'\n" +
        "    k8s.v1.cni.cncf.io/networks: mine\nspec:",
    ) + "  initContainers:\n  - {name: istio-init, image: p}\n",
    warning: /^metadata\.annotations\["traffic\.sidecar\.istio\.io\/excludeOutboundPorts"\]: stays/,
  },
  {
    name: "search domains of several clusters",
    pod: { spec: "  dnsConfig: {searches: [default.global, global]}\n" },
    left: BARE,
  },
  {
    name: "search domains of the user",
    pod: { spec: "  dnsConfig: {searches: [corp.example]}\n" },
    left: BARE + "  dnsConfig: {searches: [corp.example]}\n",
    warning: /^spec\.dnsConfig\.searches: stays/,
  },
  {
    name: "the group of the proxy in releases up to 1.8",
    pod: {
      status: STATUS({}).replace(',"revision":"default"', ""),
      spec: "  securityContext: {fsGroup: 1337, runAsUser: 5}\n",
    },
    left: BARE + "  securityContext: {runAsUser: 5}\n",
    warning: /^spec\.securityContext\.fsGroup: removed/,
  },
];

for (const { name, pod: parts, left, warning } of CASES) {
  Deno.test(`uninject: ${name}`, () => {
    const { text, entry } = uninject(pod(parts));
    assert.deepEqual(value(text), value(left));
    if (warning === undefined) assert.deepEqual(entry.warnings, []);
    else assert.match(entry.warnings.join("\n"), warning);
  });
}

Deno.test("uninject: a volume that the application mounts stays, with a warning", () => {
  const mounting = (text: string) =>
    text.replace("image: a,", "image: a, volumeMounts: [{name: istio-envoy, mountPath: /x}],");
  const { text, entry } = uninject(mounting(pod({})));
  assert.deepEqual(value(text), value(`${mounting(BARE)}  volumes:\n  - {name: istio-envoy, emptyDir: {}}\n`));
  assert.deepEqual(entry.warnings, [
    'spec.volumes: the volume "istio-envoy" stays, because the container "app" mounts it',
  ]);
});

Deno.test("uninject: the status annotation may name no container of the application alone", () => {
  const { entry } = uninject(pod({ status: STATUS({ containers: ["istio-proxy", "app"] }) }));
  assert.deepEqual([entry.result, entry.reason, entry.field], ["failed", "no-containers", "spec.containers"]);
});

Deno.test("uninject: a CronJob of istioctl has the annotations of its pod on its Job", () => {
  const job = (metadata: string, more: string) =>
    `apiVersion: batch/v1
kind: CronJob
metadata: {name: web}
spec:
  jobTemplate:
${metadata}    spec:
      template:
        metadata: {labels: {own: x}}
        spec:
          containers:
          - {name: app, image: a}
${more}`;
  const { text } = uninject(
    job(
      `    metadata:\n      annotations:\n        sidecar.istio.io/status: ${STATUS()}\n` +
        "      labels: {security.istio.io/tlsMode: istio}\n",
      "          - {name: istio-proxy, image: p, args: [proxy, sidecar]}\n",
    ),
  );
  assert.equal(text, job("", ""));
});
