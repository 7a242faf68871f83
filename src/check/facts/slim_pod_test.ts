import assert from "node:assert/strict";
import { object } from "../../../test/support/cluster.ts";
import { slimPod } from "./slim_pod.ts";

Deno.test("a slim pod has what checks read, and not what tells who wrote it or how it is run", () => {
  const container = { name: "app", image: "app:1", ports: [{ containerPort: 80 }], securityContext: { runAsUser: 1 } };
  const status = { name: "app", ready: true, restartCount: 2, state: { running: {} }, lastState: {} };
  const metadata = { labels: { app: "cart" }, annotations: { a: "b" }, ownerReferences: [{ kind: "Job", name: "j" }] };
  const read = object("v1", "Pod", "shop/cart", {
    metadata,
    spec: { hostNetwork: true, containers: [container], initContainers: [container] },
    status: { phase: "Running", conditions: [{ type: "Ready", status: "False" }], containerStatuses: [status] },
  });
  const whole = object("v1", "Pod", "shop/cart", {
    metadata: { ...metadata, managedFields: [{ manager: "kubelet" }] },
    spec: {
      hostNetwork: true,
      containers: [{ ...container, env: [{ name: "A", value: "b" }], readinessProbe: {} }],
      initContainers: [{ ...container, volumeMounts: [] }],
      volumes: [{ name: "v" }],
    },
    status: {
      phase: "Running",
      podIP: "10.0.0.1",
      conditions: [{ type: "Ready", status: "False" }],
      containerStatuses: [{ ...status, imageID: "sha256:1" }],
    },
  });
  assert.deepEqual(slimPod(whole), read);
});

Deno.test("a pod that is no such pod stays as it is, with names that objects have by themselves", () => {
  const odd = object("v1", "Pod", "cart", { spec: { containers: [1, null], ["__proto__"]: "x" }, status: null });
  const { status: _, ...rest } = odd;
  assert.deepEqual(slimPod(odd), rest);
});
