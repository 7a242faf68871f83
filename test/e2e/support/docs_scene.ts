/** The objects of the cluster before the examples of docs/ run. */
import { BUILT_IN } from "../../../src/inject/mod.ts";
import {
  CONTROL_PLANE,
  type MeshCluster,
  podOf,
  type Reports,
  rootCertificateIn,
  runPod,
} from "../check/support/mesh_cluster.ts";
import { until } from "../../support/until.ts";
import { addServiceAccount, reported } from "./cluster/requests.ts";

/**
 * Creates the ConfigMaps of a control plane and the namespaces `demo`, `blog` and `shop`. `shop` has the injection
 * label, and three pods: one older than the label, one with a failed init container, one that is not ready.
 */
export async function setScene(mesh: MeshCluster): Promise<void> {
  const { config, values, mesh: settings } = BUILT_IN;
  for (const [name, data] of [["istio-sidecar-injector", { config, values }], ["istio", { mesh: settings }]] as const) {
    await mesh.apply({ apiVersion: "v1", kind: "ConfigMap", metadata: { name, namespace: CONTROL_PLANE }, data });
  }
  for (const name of ["demo", "blog", "shop"]) {
    await mesh.kubectl("create", "namespace", name);
    await addServiceAccount(mesh.cluster, name);
    await mesh.apply(rootCertificateIn(name));
  }
  await pod(mesh, "old");
  await mesh.kubectl("label", "namespace", "shop", "istio-injection=enabled");
  const later = JSON.stringify(podOf("later", { namespace: "shop" }));
  const tried = () => mesh.cluster.kubectl(["create", "--dry-run=server", "-o", "json", "-f", "-"], later);
  await until(async () => (await tried()).stdout.includes("sidecar.istio.io/status"), "Never: the webhook injects");
  await pod(mesh, "cart");
  const state = { terminated: { exitCode: 126, reason: "Error" } };
  const initContainerStatuses = [{ name: "istio-init", image: "", imageID: "", ready: false, restartCount: 4, state }];
  await reported(mesh.cluster, podOf("cart", { namespace: "shop" }), { phase: "Pending", initContainerStatuses });
  await pod(mesh, "web", { proxy: { ready: false } });
}

/** A pod of the namespace `shop` that runs, with what its containers report. */
async function pod(mesh: MeshCluster, name: string, reports: Reports = {}): Promise<void> {
  await runPod(mesh, podOf(name, { namespace: "shop", labels: { app: name } }), reports);
}
