/** The examples of docs/ that need a cluster, each page on a cluster of its own with a mesh in it. UPDATE=1 writes the outputs anew. */
import { needsProgram, testWhen } from "../support/test_when.ts";
import { pagesWith, runPage } from "../support/docs_page_run.ts";
import { goProgram } from "../support/programs/go_program.ts";
import { startMesh } from "./check/support/mesh_cluster.ts";
import { SCENES } from "./support/docs_scenes.ts";
import { needsCluster } from "./support/cluster/cluster.ts";

for (const path of pagesWith(/^```console run cluster/m)) {
  const name = path.split("/").at(-1) ?? "";
  testWhen(needsCluster(), `the examples of docs/${name} do what the page says in a cluster`, async (t) => {
    const mesh = await startMesh();
    try {
      await SCENES[name]?.(mesh);
      const { kubeconfig, url } = mesh.cluster;
      const kubectl = needsProgram("kubectl") === undefined ? {} : {
        path: () => goProgram("test/e2e/servers", "k8s.io/kubernetes/cmd/kubectl"),
      };
      await runPage(path, t, {
        env: { KUBECONFIG: kubeconfig },
        programs: { cluster: { missing: undefined }, kubectl: { missing: undefined, ...kubectl } },
        shown: (printed) => printed.replaceAll(url, "https://10.0.0.1:6443"),
      });
    } finally {
      await mesh.stop();
    }
  });
}
