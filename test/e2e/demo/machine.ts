/** The machine of the demo. The import of this file builds the programs that are missing. */
import { MESH_COMMAND } from "../../support/programs/mesh.ts";
import { needsProgram } from "../../support/test_when.ts";
import { missing, RealMesh } from "../mesh/support/mesh.ts";
import { apply } from "../support/webhook.ts";
import { installWebhook } from "../check/support/mesh_cluster.ts";
import { makeAuthority } from "../check/support/certificates.ts";
import { needsCluster } from "../support/cluster/cluster.ts";
import { addServiceAccount } from "../support/cluster/requests.ts";
import { DemoNode } from "./node.ts";

/** The reason that the demo cannot run: it needs more programs than the tests. */
const absent = needsCluster() ?? missing ?? needsProgram("curl") ?? needsProgram("iptables");

/** Many installers run the API server as a pod, whose spec shows the flags. */
const API_SERVER = {
  apiVersion: "v1",
  kind: "Pod",
  metadata: { name: "kube-apiserver", namespace: "kube-system", labels: { component: "kube-apiserver" } },
  spec: {
    automountServiceAccountToken: false,
    containers: [{ name: "kube-apiserver", image: "kube-apiserver", command: ["kube-apiserver"] }],
  },
};

/** Runs the cluster, the mesh and a node with files in `folder`. Calls `ready` when they can be used, and then runs the node's pods. */
export async function serve(folder: string, ready: () => void): Promise<void> {
  if (absent !== undefined) throw new Error(absent);
  const mesh = await RealMesh.create();
  const { cluster, webhook } = mesh.parts;
  const authority = makeAuthority();
  const configuration = { mesh: { file: "mesh.yaml", text: JSON.stringify(mesh.istiod.options.mesh) } };
  await installWebhook({ cluster, webhook, authority, certificate: authority.sign() }, { configuration });
  await addServiceAccount(cluster, "kube-system");
  await apply(cluster, API_SERVER);
  const node = await DemoNode.add(mesh, folder);
  await Deno.copyFile(cluster.kubeconfig, `${folder}/kubeconfig`);
  await Deno.mkdir(`${folder}/bin`);
  await Deno.symlink(MESH_COMMAND, `${folder}/bin/kubectl-mesh`);
  if (cluster.program !== "kubectl") await Deno.symlink(cluster.program, `${folder}/bin/kubectl`);
  ready();
  await node.run();
}
