import assert from "node:assert/strict";
import type { KubeObject } from "../../kube/client/mod.ts";
import { textAt, type Value } from "../../base/value.ts";
import { BUILT_IN, configurationOf, findProxy, injectPod, newInjector, podOwner } from "../../inject/mod.ts";
import { clusterInventory, object } from "../../../test/support/kube/cluster.ts";
import { meshObjects } from "../../../test/support/kube/mesh_webhooks.ts";
import { shownText } from "../../../test/support/kube/shown.ts";
import { WORKLOAD_CHECKS } from "./workloads.ts";
import { findingFor } from "../../../test/support/kube/finding.ts";
import { judge } from "../run.ts";

const MESH = meshObjects().filter(({ kind }) => /Configuration|ConfigMap/.test(kind));
const NODE = object("v1", "Node", "one", { status: { nodeInfo: { kubeletVersion: "v1.34.1" } } });
const NAMESPACE = object("v1", "Namespace", "shop", { metadata: { labels: { "istio-injection": "enabled" } } });

const IMAGE = textAt(
  findProxy(
    injectPod(
      { metadata: { name: "app", labels: {} }, spec: { containers: [{ name: "app", image: "app" }] } },
      podOwner({ metadata: { name: "app" } }, "shop"),
      newInjector({
        ...configurationOf({
          config: { text: BUILT_IN.config, file: "" },
          values: { text: BUILT_IN.values, file: "" },
        }),
        byHand: false,
        env: () => undefined,
        now: () => new Date(0),
      }),
    ).pod,
  ) ?? {},
  "image",
);

const APP = { name: "app", image: "app" };
const PROXY = { name: "istio-proxy", image: IMAGE };
const INJECTED = { "sidecar.istio.io/status": '{"revision":"default"}' };

interface PodParts {
  readonly labels?: Record<string, string>;
  readonly annotations?: Record<string, string>;
  readonly spec?: Record<string, Value>;
  readonly owner?: string;
  readonly status?: Record<string, Value>;
}

/** A pod that a controller made. */
function pod({ labels = {}, annotations = {}, spec = {}, owner = "StatefulSet", status = {} }: PodParts): KubeObject {
  const ownerReferences = [{ apiVersion: "apps/v1", kind: owner, name: "web", controller: true }];
  const metadata = { labels, annotations, ownerReferences, generateName: "web-" };
  return object("v1", "Pod", "shop/web-1", { metadata, spec: { containers: [APP], ...spec }, status });
}

/** A pod without a controller that opted out and has a proxy, with the manifest that the user applied. */
function alone(applied: Record<string, Value>): KubeObject {
  const annotations = { ...INJECTED, "kubectl.kubernetes.io/last-applied-configuration": JSON.stringify(applied) };
  const metadata = { labels: { "sidecar.istio.io/inject": "false" }, annotations };
  return object("v1", "Pod", "shop/web", { metadata, spec: { containers: [APP, PROXY] } });
}

const WITH_PROXY: PodParts = { annotations: INJECTED, spec: { containers: [APP, PROXY] } };

async function found(id: string, objects: readonly KubeObject[]) {
  const finding = await findingFor(id, clusterInventory({ objects }));
  return { result: finding.result, message: await shownText(finding), names: finding.objects ?? [] };
}

interface Row {
  readonly id: string;
  readonly name: string;
  readonly objects: readonly KubeObject[];
  readonly result: string;
  readonly says?: RegExp;
}

function inits(...names: string[]): Value[] {
  return names.map((name) => ({ name, image: "app" }));
}

const DEPLOYMENT_ON_ITSELF = object("apps/v1", "Deployment", "shop/web", {
  metadata: { labels: { "sidecar.istio.io/inject": "false" } },
  spec: { template: { spec: { containers: [APP] } } },
});
/** A Deployment with annotations of its own and of its pods. */
function annotated(own: Record<string, string>, ofPods: Record<string, string>) {
  return object("apps/v1", "Deployment", "shop/web", {
    metadata: { annotations: own },
    spec: { template: { metadata: { annotations: ofPods }, spec: { containers: [APP] } } },
  });
}
const WRITTEN_BY_HAND = object("apps/v1", "StatefulSet", "shop/web", {
  spec: { template: { spec: { containers: [APP, PROXY] } } },
});
const OPTED_OUT = { "sidecar.istio.io/inject": "false" };
const DONE = { containerStatuses: [{ name: "app", state: { terminated: {} } }, { name: "istio-proxy", state: {} }] };

/** A controller with this status. */
function refused(kind: string, status: Record<string, Value>): KubeObject {
  return object("apps/v1", kind, "shop/web", { spec: { template: { spec: { containers: [APP] } } }, status });
}

function failedCreate(time: Date): KubeObject {
  const involvedObject = { kind: "StatefulSet", namespace: "shop", name: "web" };
  return object("v1", "Event", "shop/web.1", {
    reason: "FailedCreate",
    message: "no sidecars",
    involvedObject,
    lastTimestamp: time.toISOString(),
  });
}

const ROWS: readonly Row[] = [
  {
    id: "workload-proxy-missing",
    name: "older than the label",
    objects: [pod({})],
    result: "error",
    says: /^statefulset\/shop\/web: it has no proxy/,
  },
  { id: "workload-proxy-missing", name: "opted out", objects: [pod({ labels: OPTED_OUT })], result: "ok" },
  {
    id: "workload-proxy-missing",
    name: "opted out by annotation",
    objects: [pod({ annotations: OPTED_OUT })],
    result: "ok",
  },
  { id: "workload-proxy-missing", name: "done", objects: [pod({ status: { phase: "Succeeded" } })], result: "ok" },
  { id: "workload-proxy-missing", name: "injected", objects: [pod(WITH_PROXY)], result: "ok" },
  {
    id: "workload-proxy-unexpected",
    name: "opted out since",
    objects: [pod({ ...WITH_PROXY, labels: OPTED_OUT })],
    result: "warning",
    says: /no webhook is called for new pods/,
  },
  {
    id: "workload-proxy-unexpected",
    name: "written by hand",
    objects: [pod({ ...WITH_PROXY, labels: OPTED_OUT }), WRITTEN_BY_HAND],
    result: "ok",
  },
  {
    id: "workload-proxy-unexpected",
    name: "a pod without a controller, written by hand",
    objects: [alone({ spec: { containers: [APP, PROXY] } })],
    result: "ok",
  },
  {
    id: "workload-proxy-unexpected",
    name: "a pod without a controller, injected before it opted out",
    objects: [alone({ spec: { containers: [APP] } })],
    result: "warning",
    says: /no webhook is called for new pods/,
  },
  {
    id: "workload-windows",
    name: "by its node selector",
    objects: [pod({ spec: { nodeSelector: { "kubernetes.io/os": "windows" } } })],
    result: "error",
    says: /it is a Windows pod/,
  },
  {
    id: "workload-windows",
    name: "by its os, opted out",
    objects: [pod({ labels: OPTED_OUT, spec: { os: { name: "windows" } } })],
    result: "ok",
  },
  {
    id: "workload-other-mesh",
    name: "Linkerd beside the proxy",
    objects: [pod({ ...WITH_PROXY, spec: { containers: [APP, PROXY, { name: "linkerd-proxy" }] } })],
    result: "error",
    says: /it has the sidecar "linkerd-proxy" of Linkerd/,
  },
  {
    id: "workload-other-mesh",
    name: "Linkerd alone",
    objects: [pod({ labels: OPTED_OUT, spec: { containers: [APP, { name: "linkerd-proxy" }] } })],
    result: "ok",
  },
  {
    id: "workload-pods-created",
    name: "a Deployment with ReplicaFailure",
    objects: [refused("Deployment", { conditions: [{ type: "ReplicaFailure", status: "True", message: "no quota" }] })],
    result: "error",
    says: /^deployment\/shop\/web: the API server refuses its pods: no quota/,
  },
  {
    id: "workload-pods-created",
    name: "a StatefulSet with a recent event",
    objects: [refused("StatefulSet", {}), failedCreate(new Date())],
    result: "error",
    says: /^statefulset\/shop\/web: the API server refuses its pods: no sidecars/,
  },
  {
    id: "workload-pods-created",
    name: "an event of yesterday",
    objects: [refused("StatefulSet", {}), failedCreate(new Date(Date.now() - 86_400_000))],
    result: "ok",
  },
  { id: "workload-proxy-current", name: "the same", objects: [pod(WITH_PROXY)], result: "ok" },
  {
    id: "workload-proxy-current",
    name: "another image",
    objects: [pod({ ...WITH_PROXY, spec: { containers: [APP, { ...PROXY, image: "proxyv2:1.9" }] } })],
    result: "warning",
    says: /its proxy image is "proxyv2:1.9", but new pods get/,
  },
  {
    id: "workload-proxy-current",
    name: "another image by its own wish",
    objects: [pod({
      annotations: { ...INJECTED, "sidecar.istio.io/proxyImage": "own/proxy" },
      spec: { containers: [APP, { ...PROXY, image: "own/proxy" }] },
    })],
    result: "ok",
  },
  {
    id: "workload-proxy-current",
    name: "another revision",
    objects: [pod({ ...WITH_PROXY, annotations: { "sidecar.istio.io/status": '{"revision":"1-9"}' } })],
    result: "warning",
    says: /has the revision "1-9"/,
  },
  {
    id: "workload-host-network",
    name: "host network",
    objects: [pod({ spec: { hostNetwork: true } })],
    result: "warning",
    says: /uses the host network/,
  },
  {
    id: "workload-init-network",
    name: "behind the capture",
    objects: [pod({ spec: { containers: [APP, PROXY], initContainers: inits("istio-init", "migrate") } })],
    result: "warning",
    says: /"migrate" run before the proxy.*\nfix: run the proxy as a native sidecar, which requires Kubernetes/,
  },
  {
    id: "workload-init-network",
    name: "behind the capture, on nodes with native sidecars",
    objects: [pod({ spec: { containers: [APP, PROXY], initContainers: inits("istio-init", "migrate") } }), NODE],
    result: "warning",
    says: /\nkubectl patch statefulset\/web -n shop .*"sidecar\.istio\.io\/nativeSidecar":"true"/,
  },
  {
    id: "workload-init-network",
    name: "before the capture",
    objects: [pod({ spec: { containers: [APP, PROXY], initContainers: inits("migrate", "istio-init") } })],
    result: "ok",
  },
  {
    id: "workload-init-network",
    name: "behind a native sidecar",
    objects: [pod({ spec: { initContainers: inits("istio-init", "istio-proxy", "migrate") } })],
    result: "ok",
  },
  {
    id: "workload-init-network",
    name: "with the CNI plugin, as the user whose traffic is let through",
    objects: [pod({
      spec: {
        containers: [APP, PROXY],
        initContainers: [...inits("istio-validation"), { name: "migrate", securityContext: { runAsUser: 1337 } }],
      },
    })],
    result: "ok",
  },
  { id: "workload-jobs", name: "at work", objects: [pod({ ...WITH_PROXY, owner: "Job" })], result: "warning" },
  {
    id: "workload-jobs",
    name: "done but for the proxy",
    objects: [pod({ ...WITH_PROXY, owner: "Job", status: DONE })],
    result: "error",
    says: /the Job does not complete.*\nfix: run the proxy as a native sidecar, which requires Kubernetes 1\.29/,
  },
  {
    id: "workload-jobs",
    name: "a Job would run again",
    objects: [pod({ ...WITH_PROXY, owner: "Job", status: DONE }), NODE],
    result: "error",
    says:
      /\nfix: .*: set sidecar\.istio\.io\/nativeSidecar: "true" in spec\.template\.metadata\.annotations of its manifest\n/,
  },
  {
    id: "workload-jobs",
    name: "native",
    objects: [pod({ owner: "Job", spec: { initContainers: [PROXY] } })],
    result: "ok",
  },
  {
    id: "workload-proxy-user",
    name: "the pod's user",
    objects: [pod({ spec: { securityContext: { runAsUser: 1337 } } })],
    result: "error",
    says:
      /"app" run as .*\nfix: set another runAsUser in spec\.template\.spec\.sec.*:\nkubectl edit statefulset\/web -n shop$/,
  },
  {
    id: "workload-proxy-user",
    name: "a Job cannot be edited",
    objects: [pod({ owner: "Job", spec: { securityContext: { runAsUser: 1337 } } })],
    result: "error",
    says: /\nfix: in its manifest, set another runAsUser in spec\.template\.spec\..*, then recreate the object$/,
  },
  {
    id: "workload-ports",
    name: "the port of the agent",
    objects: [pod({ spec: { containers: [{ ...APP, ports: [{ containerPort: 8080 }, { containerPort: 15020 }] }] } })],
    result: "error",
    says: /15020 of "app"/,
  },
  {
    id: "workload-label-place",
    name: "on the Deployment itself",
    objects: [DEPLOYMENT_ON_ITSELF],
    result: "warning",
    says:
      /\nfix: remove it, .*\nkubectl label deployment\/web .*-\nor: move it to the pod template: .*\nkubectl patch deployment\/web -n shop/,
  },
  {
    id: "workload-annotations",
    name: "misspelt on the pod template",
    objects: [annotated({}, { "sidecar.istio.io/proxyCpu": "1" })],
    result: "warning",
    says:
      /^deployment\/shop\/web: spec\.template\.metadata\.annotations\["sidecar\.istio\.io\/proxyCpu"\]: unknown annotation .*\nfix: rename it to "sidecar\.istio\.io\/proxyCPU":\nkubectl edit deployment\/web -n shop$/,
  },
  {
    id: "workload-annotations",
    name: "on the Deployment itself",
    objects: [annotated({ "sidecar.istio.io/proxyCPU": "1" }, {})],
    result: "warning",
    says:
      /the annotation "sidecar\.istio\.io\/proxyCPU" is on the Deployment, where it has no effect\nfix: .*move it to spec\.template\.metadata\.annotations/,
  },
  {
    id: "workload-annotations",
    name: "a value that injection refuses",
    objects: [annotated({}, { "sidecar.istio.io/proxyCPU": "much" })],
    result: "warning",
    says:
      /annotations\["sidecar\.istio\.io\/proxyCPU"\]: injection refuses the pod: .* must be a quantity .*\nfix: correct the value:\nkubectl edit/,
  },
  {
    id: "workload-annotations",
    name: "deprecated, which is no problem",
    objects: [annotated({}, { "sidecar.istio.io/inject": "false" })],
    result: "ok",
    says: /^worth knowing: deployment\/shop\/web: .*the annotation "sidecar\.istio\.io\/inject" is deprecated$/,
  },
  {
    id: "workload-annotations",
    name: "deprecated and misspelt: only the problem is shown",
    objects: [annotated({}, { "sidecar.istio.io/inject": "false", "sidecar.istio.io/proxyCpu": "1" })],
    result: "warning",
    says: /^((?!deprecated)[^])*$/,
  },
  {
    id: "workload-annotations",
    name: "all are known; the label that asks for injection has a check of its own",
    objects: [annotated({}, { "sidecar.istio.io/proxyCPU": "1" }), DEPLOYMENT_ON_ITSELF],
    result: "ok",
  },
];

for (const { id, name, objects, result, says = /^/ } of ROWS) {
  Deno.test(`${id}: ${name}`, async () => {
    const finding = await found(id, [...MESH, NAMESPACE, ...objects]);
    assert.equal(finding.result, result, finding.message);
    assert.match(finding.message, says);
  });
}

Deno.test("workloads: pods of one workload are one problem with a count", async () => {
  const pods = [pod({}), object("v1", "Pod", "shop/web-2", { ...pod({}), metadata: pod({}).metadata })];
  const finding = await found("workload-proxy-missing", [...MESH, NAMESPACE, ...pods]);
  assert.deepEqual(finding.names, ["statefulset/shop/web"]);
  assert.match(finding.message, /\(2 pods\)/);
});

const OF_DECISION = ["workload-proxy-missing", "workload-proxy-unexpected", "workload-proxy-current"];

Deno.test("workloads: an unknown decision of a webhook is unknown, not ok", async () => {
  const conditioned = MESH.map(({ webhooks, ...rest }) =>
    Array.isArray(webhooks)
      ? {
        ...rest,
        webhooks: webhooks.map((each) => ({ ...Object(each), matchConditions: [{ name: "c", expression: "1" }] })),
      }
      : rest
  );
  const pods = (parts: PodParts) => [NAMESPACE, pod(parts)];
  for (const id of OF_DECISION) {
    const parts = id === "workload-proxy-missing" ? {} : WITH_PROXY;
    const { result, message } = await found(id, [...conditioned, ...pods(parts)]);
    assert.equal(result, "unknown");
    assert.match(
      message,
      /^cannot tell for 1 pod: "namespace\..*" has matchConditions, see kubectl mesh check injection stateful/,
    );
    const hidden = await findingFor(
      id,
      clusterInventory({ objects: [...MESH, ...pods(parts)], forbidden: /configmaps/ }),
    );
    assert.deepEqual(hidden, {
      result: "unknown",
      message: 'cannot tell for 1 pod: needs get on configmaps in the namespace "istio-system"',
      missingRight: 'get on configmaps in the namespace "istio-system"',
    });
  }
  const other = await found("workload-proxy-missing", [...conditioned, ...pods(WITH_PROXY)]);
  assert.equal(other.result, "ok");
});

Deno.test("workloads: forbidden lists are unknown", async () => {
  for (const check of WORKLOAD_CHECKS) {
    const { result, message } = await judge(
      check,
      clusterInventory({ objects: MESH, forbidden: /pods$|deployments$/ }),
    );
    assert.equal(result, "unknown");
    assert.match(message ?? "", /^cannot tell: needs list on (pods|deployments)$/);
  }
});
