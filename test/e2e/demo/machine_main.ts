/**
 * Runs the machine for `examples/demo.sh`: the cluster and the mesh of the tests, and a node. The argument is the
 * folder for its files, which is also `TMPDIR`. Prints `ready` when `FOLDER/kubeconfig` and `FOLDER/bin` can be used.
 * When standard input ends, it removes everything.
 */
import { news } from "./started_news.ts";
import { killLeftBehind, removeNamespaces, RUN } from "../../../tools/test/left_behind.ts";
import { MESH_COMMAND } from "../../support/programs/mesh.ts";
import { needsProgram } from "../../support/test_when.ts";
import { missing, RealMesh } from "../mesh/support/mesh.ts";
import { apply } from "../support/webhook.ts";
import { installWebhook } from "../check/support/mesh_cluster.ts";
import { makeAuthority } from "../check/support/certificates.ts";
import { needsCluster } from "../support/cluster/cluster.ts";
import { addServiceAccount } from "../support/cluster/requests.ts";
import { DemoNode } from "./node.ts";

const [folder = ""] = Deno.args;
const id = Deno.env.get(RUN) ?? "";

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

async function serve(): Promise<void> {
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
  news.stop();
  await Deno.stdout.write(new TextEncoder().encode("ready\n"));
  await node.run();
}

/** Waits for the end of standard input, which stays open as long as the demo runs. */
async function over(): Promise<void> {
  for await (const _ of Deno.stdin.readable);
}

/**
 * Kills the processes of the demo and removes its files. Returns whether something is left, because killed processes may
 * still write to the folder. Synchronous, so that a node that is starting a pod starts nothing more.
 */
function isLeft(): boolean {
  killLeftBehind(id);
  removeNamespaces(id);
  try {
    Deno.removeSync(folder, { recursive: true });
    return false;
  } catch {
    return true;
  }
}

let code = 0;
try {
  await Promise.race([serve(), over()]);
} catch (error) {
  await Deno.stderr.write(
    new TextEncoder().encode(`error: The demo cannot go on: ${error instanceof Error ? error.message : error}\n`),
  );
  code = 1;
}
for (let tries = 3000; isLeft(); tries--) {
  if (tries === 0) throw new Error(`Cannot remove ${folder}`);
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 20);
}
Deno.exit(code);
