/** The examples of docs/ that need a cluster, on one with a mesh in it. UPDATE=1 writes the outputs anew. */
import { needsProgram, testWhen } from "../support/test_when.ts";
import { pagesWith, type PageWorld, runPage } from "../support/docs_page_run.ts";
import { goProgram } from "../support/programs/go_program.ts";
import { startMesh } from "./check/support/mesh_cluster.ts";
import { needsCluster } from "./support/cluster/cluster.ts";
import { setScene } from "./support/docs_scene.ts";

testWhen(needsCluster(), "the examples of docs/ do what the pages say in a cluster", async (t) => {
  const mesh = await startMesh();
  try {
    await setScene(mesh);
    const { kubeconfig, url } = mesh.cluster;
    const built = { path: () => goProgram("test/e2e/servers", "k8s.io/kubernetes/cmd/kubectl") };
    const kubectl = { missing: undefined, ...needsProgram("kubectl") === undefined ? {} : built };
    const world: PageWorld = {
      settles: true,
      env: { KUBECONFIG: kubeconfig },
      programs: { cluster: { missing: undefined }, kubectl },
      shown: (printed) => printed.replaceAll(url, "https://10.0.0.1:6443"),
    };
    for (const path of pagesWith(/^```console run cluster/m)) {
      await t.step(`docs/${path.split("/").at(-1)}`, (t) => runPage(path, t, world));
    }
  } finally {
    await mesh.stop();
  }
});
