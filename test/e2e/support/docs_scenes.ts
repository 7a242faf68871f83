/** What is in the cluster before the examples of a page run, by the name of the page. */
import type { ValueMap } from "../../../src/core/value.ts";
import { BUILT_IN } from "../../../src/inject/mod.ts";
import {
  CONTROL_PLANE,
  type MeshCluster,
  podOf,
  type Reports,
  rootCertificateIn,
  runPod,
} from "../check/support/mesh_cluster.ts";
import { addServiceAccount, reported } from "./cluster/requests.ts";

/** A namespace with the ConfigMap of istiod. */
async function namespace(
  mesh: MeshCluster,
  name: string,
  labels: Readonly<Record<string, string>> = {},
): Promise<void> {
  await mesh.apply({ apiVersion: "v1", kind: "Namespace", metadata: { name, labels } });
  await addServiceAccount(mesh.cluster, name);
  await mesh.apply(rootCertificateIn(name));
}

/** A pod of the namespace `shop` that runs, with what its containers report. */
async function pod(mesh: MeshCluster, name: string, reports: Reports = {}, metadata: ValueMap = {}): Promise<void> {
  await runPod(mesh, podOf(name, { namespace: "shop", labels: { app: name }, metadata }), reports);
}

const NOT_CAPTURED = "the traffic is not captured: the CNI plugin did not run for this pod";

async function troubles(mesh: MeshCluster): Promise<void> {
  await namespace(mesh, "shop");
  await namespace(mesh, "blog");
  await pod(mesh, "old");
  await mesh.kubectl("label", "namespace", "shop", "istio-injection=enabled");
  await pod(mesh, "cart");
  const failed = { terminated: { exitCode: 126, reason: "Error", message: NOT_CAPTURED } };
  const initContainerStatuses = [{
    name: "istio-init",
    image: "",
    imageID: "",
    ready: false,
    restartCount: 4,
    state: failed,
  }];
  await reported(mesh.cluster, podOf("cart", { namespace: "shop" }), { phase: "Pending", initContainerStatuses });
  await pod(mesh, "web", { proxy: { ready: false } });
  const owner = { apiVersion: "batch/v1", kind: "Job", name: "migrate", uid: "1", controller: true };
  const done = { ready: false, state: { terminated: { exitCode: 0 } } };
  await pod(mesh, "migrate", { others: done }, { ownerReferences: [owner] });
}

/** The ConfigMaps of a control plane of the default revision, beside those of the webhook. */
async function controlPlane(mesh: MeshCluster): Promise<void> {
  const { config, values, mesh: settings } = BUILT_IN;
  const objects = { "istio-sidecar-injector": { config, values }, istio: { mesh: settings } };
  for (const [name, data] of Object.entries(objects)) {
    await mesh.apply({ apiVersion: "v1", kind: "ConfigMap", metadata: { name, namespace: CONTROL_PLANE }, data });
  }
}

async function labelled(mesh: MeshCluster): Promise<void> {
  await controlPlane(mesh);
  await namespace(mesh, "shop", { "istio-injection": "enabled" });
}

/** All scenes. */
export const SCENES: Readonly<Record<string, (mesh: MeshCluster) => Promise<void>>> = {
  "troubleshooting.md": troubles,
  "start.md": async (mesh) => {
    await controlPlane(mesh);
    await namespace(mesh, "demo");
  },
  "config.md": labelled,
  "ci.md": labelled,
};
