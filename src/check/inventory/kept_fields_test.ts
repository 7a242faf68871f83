import assert from "node:assert/strict";
import { mapAt } from "../../base/value.ts";
import { object } from "../../../test/support/kube/cluster.ts";
import { namespaceKeeper, nodeKeeper, podKeeper, serviceKeeper, workloadKeeper } from "./kept_fields.ts";

const MANAGED = { managedFields: [{ manager: "kubelet" }], uid: "1" };
const CONTAINER = { name: "app", image: "app:1", ports: [{ containerPort: 80 }], securityContext: { runAsUser: 1 } };
const STATUS = { name: "app", ready: true, restartCount: 2, state: { running: {} }, lastState: {} };
const OWNER = { apiVersion: "batch/v1", kind: "Job", name: "j", controller: true };
const READ = { labels: { app: "cart" }, annotations: { "sidecar.istio.io/status": "{}" }, ownerReferences: [OWNER] };

Deno.test("a kept pod has the fields that checks read", () => {
  const status = { phase: "Running", conditions: [{ type: "Ready", status: "False", reason: "r", message: "m" }] };
  const read = object("v1", "Pod", "shop/cart", {
    metadata: READ,
    spec: { hostNetwork: true, containers: [CONTAINER], initContainers: [CONTAINER] },
    status: { ...status, containerStatuses: [STATUS] },
  });
  const whole = object("v1", "Pod", "shop/cart", {
    metadata: {
      ...READ,
      ...MANAGED,
      annotations: { ...READ.annotations, note: "long" },
      ownerReferences: [{ ...OWNER, uid: "1" }],
    },
    spec: {
      hostNetwork: true,
      containers: [{ ...CONTAINER, env: [{ name: "A", value: "b" }], readinessProbe: {} }],
      initContainers: [{ ...CONTAINER, volumeMounts: [] }],
      volumes: [{ name: "v" }],
    },
    status: {
      ...status,
      podIP: "10.0.0.1",
      containerStatuses: [{
        ...STATUS,
        state: { running: { startedAt: "2026-01-01T00:00:00Z" } },
        imageID: "sha256:1",
      }],
    },
  });
  assert.deepEqual(podKeeper()(whole), read);
  const applied = { annotations: { "kubectl.kubernetes.io/last-applied-configuration": "{}" } };
  const alone = object("v1", "Pod", "shop/cart", { metadata: applied });
  assert.deepEqual(podKeeper()(alone), alone);
});

Deno.test("a malformed pod is kept as it is", () => {
  const odd = object("v1", "Pod", "cart", { spec: { containers: [1, null], ["__proto__"]: "x" }, status: null });
  assert.deepEqual(podKeeper()(odd), object("v1", "Pod", "cart", { spec: { containers: [1, null] }, status: null }));
});

Deno.test("kept pods of a workload share their labels and containers", () => {
  const keep = podKeeper();
  const podOf = (name: string) =>
    keep(object("v1", "Pod", `shop/${name}`, { metadata: { ...READ, uid: name }, spec: { containers: [CONTAINER] } }));
  const [a, b] = [podOf("a"), podOf("b")];
  assert.equal(mapAt(a, "spec")["containers"], mapAt(b, "spec")["containers"]);
  assert.equal(a.metadata["labels"], b.metadata["labels"]);
  assert.deepEqual([a.metadata.name, b.metadata.name], ["a", "b"]);
});

Deno.test("kept workloads, namespaces and nodes have the fields that checks read", () => {
  const template = { metadata: READ, spec: { containers: [CONTAINER], volumes: [] } };
  const { ownerReferences: _, ...strings } = READ;
  const kept = { metadata: strings, spec: { containers: [{ name: "app", image: CONTAINER.image }] } };
  const installed = { "meta.helm.sh/release-name": "a", "kubectl-mesh/manifests-flags": "[]" };
  const own = { ...strings, annotations: { ...strings.annotations, ...installed } };
  const whole = { metadata: { ...own, ...MANAGED } };
  assert.deepEqual(
    workloadKeeper()(object("apps/v1", "Deployment", "shop/a", { ...whole, spec: { replicas: 1, template } })),
    object("apps/v1", "Deployment", "shop/a", { metadata: own, spec: { template: kept } }),
  );
  assert.deepEqual(
    workloadKeeper()(
      object("batch/v1", "CronJob", "shop/a", { spec: { schedule: "* * * * *", jobTemplate: { spec: { template } } } }),
    ),
    object("batch/v1", "CronJob", "shop/a", { spec: { jobTemplate: { spec: { template: kept } } } }),
  );
  assert.deepEqual(
    namespaceKeeper()(object("v1", "Namespace", "shop", { metadata: { labels: { a: "b" }, ...MANAGED }, spec: {} })),
    object("v1", "Namespace", "shop", { metadata: { labels: { a: "b" } } }),
  );
  const nodeInfo = { kubeletVersion: "v1.34.1" };
  assert.deepEqual(
    nodeKeeper()(
      object("v1", "Node", "a", {
        spec: { unschedulable: true, podCIDR: "x" },
        status: { nodeInfo: { ...nodeInfo, osImage: "x" }, images: [1] },
      }),
    ),
    object("v1", "Node", "a", { spec: { unschedulable: true }, status: { nodeInfo } }),
  );
  const off = { "off.kubectl-mesh/port-name": "a reason" };
  const selected = { selector: { app: "web" }, ports: [{ name: "http", port: 80 }] };
  assert.deepEqual(
    serviceKeeper()(
      object("v1", "Service", "shop/a", {
        metadata: { ...MANAGED, annotations: { ...off, note: "long" } },
        spec: { ...selected, clusterIP: "10.0.0.1" },
        status: { loadBalancer: {} },
      }),
    ),
    object("v1", "Service", "shop/a", { metadata: { annotations: off }, spec: selected }),
  );
});
