/** Simulates the controllers of Deployments and quotas. The API server itself rejects or admits pods. */
import { mapAt } from "../../../../src/base/value.ts";
import { got, reported, tried } from "../../support/cluster/requests.ts";
import type { Breakage, Expected } from "./breaking.ts";
import { type MeshCluster, podOf, removePod, runPod } from "./mesh_cluster.ts";

const QUOTA = {
  apiVersion: "v1",
  kind: "ResourceQuota",
  metadata: { name: "small", namespace: "mesh" },
  spec: { hard: { "requests.cpu": "250m" } },
};
const USED = { "requests.cpu": "200m" };
const CONTAINER = { resources: { requests: { cpu: "10m" } } };
const { spec } = podOf("web", { container: CONTAINER });
const DEPLOYMENT = {
  apiVersion: "apps/v1",
  kind: "Deployment",
  metadata: { name: "web", namespace: "mesh" },
  spec: {
    selector: { matchLabels: { app: "web" } },
    template: { metadata: { labels: { app: "web" } }, spec: spec ?? {} },
  },
};

/** A Deployment whose pod exceeds the quota of its namespace. */
export function refusedByQuota(expected: Expected): Breakage {
  return {
    ...expected,
    make: async (mesh) => {
      await mesh.apply(QUOTA);
      await mesh.apply(DEPLOYMENT);
      await reported(mesh.cluster, QUOTA, { used: USED });
      await control(mesh);
    },
    reacts: control,
    heal: async (mesh) => {
      await mesh.kubectl("delete", "resourcequota/small", "deployment/web", "-n", "mesh");
      await removePod(mesh, "web");
    },
  };
}

/**
 * Updates the quota's status, and creates the Deployment's pod, or sets a condition with the reason for its rejection.
 */
async function control(mesh: MeshCluster): Promise<void> {
  const { cluster } = mesh;
  const quota = await got(cluster, "/api/v1/namespaces/mesh/resourcequotas/small");
  await reported(cluster, QUOTA, { hard: mapAt(mapAt({ spec: quota["spec"] ?? {} }, "spec"), "hard") });
  const pod = podOf("web", { labels: { app: "web" }, container: CONTAINER });
  const { made, refusal } = await tried(cluster, pod);
  const failure = { type: "ReplicaFailure", status: "True", reason: "FailedCreate", message: refusal };
  await reported(cluster, DEPLOYMENT, { conditions: made === undefined ? [failure] : [] });
  if (made !== undefined) await runPod(mesh, pod);
}
