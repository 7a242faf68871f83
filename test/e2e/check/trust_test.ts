/** Answers that a real API server allows: without rights, and for pods that it refuses. */
import assert from "node:assert/strict";
import { EXPLANATION } from "../../../src/check/injection/explanation_schema.ts";
import { CHECK_RESULTS } from "../../../src/check/result_schema.ts";
import { runMesh } from "../../support/programs/mesh.ts";
import { testWhen } from "../../support/test_when.ts";
import { needsCluster } from "../support/cluster/cluster.ts";
import { type MeshCluster, startMesh } from "./support/mesh_cluster.ts";
import { asUser } from "./support/results.ts";

const LABELS = { app: "web" };
const WEB = {
  apiVersion: "apps/v1",
  kind: "Deployment",
  metadata: { name: "web", namespace: "mesh" },
  spec: {
    selector: { matchLabels: LABELS },
    template: { metadata: { labels: LABELS }, spec: { containers: [{ name: "app", image: "example.com/app:1" }] } },
  },
};

/** Exit code and answer of `check injection deployment/web`. */
async function explained(kubeconfig: string) {
  const args = ["check", "injection", "deployment/web", "-n", "mesh", "-o", "json", "--kubeconfig", kubeconfig];
  const { code, stdout, stderr } = await runMesh(args);
  assert.equal(stderr, "");
  const answer = EXPLANATION.parse(JSON.parse(stdout));
  return { ...answer, code };
}

/** A user who may read everything that `check` needs, but create no pods. */
async function reader({ cluster, kubectl, apply }: MeshCluster): Promise<string> {
  const { stdout } = await runMesh(["check", "--rbac"]);
  const roles = stdout.split(/^---$/m).filter((text) => !/^# Optional/m.test(text));
  for (const role of roles) assert.equal((await cluster.kubectl(["apply", "-f", "-"], role)).code, 0);
  await kubectl("create", "clusterrolebinding", "reader", "--clusterrole=kubectl-mesh-check", "--user=reader");
  const inControlPlane = ["-n", "istio-system", "--role=kubectl-mesh-check", "--user=reader"];
  await kubectl("create", "rolebinding", "reader", ...inControlPlane);
  await apply(WEB);
  return await asUser(cluster, "reader");
}

testWhen(needsCluster(), "what is not known is not well", async (t) => {
  const mesh = await startMesh();
  const { cluster, kubectl } = mesh;
  try {
    const readerConfig = await reader(mesh);
    const resources = "--resource=deployments.apps,pods,namespaces,configmaps";
    await kubectl("create", "clusterrole", "viewer", "--verb=get,list", resources);
    await kubectl("create", "clusterrolebinding", "viewer", "--clusterrole=viewer", "--user=viewer");
    const viewer = await asUser(cluster, "viewer");
    await t.step("a user without rights gets no success from check", async () => {
      const nobody = await asUser(cluster, "nobody");
      const { code, stdout } = await runMesh(["check", "-o", "json", "--kubeconfig", nobody]);
      const { success, unknown } = CHECK_RESULTS.parse(JSON.parse(stdout));
      assert.deepEqual([code, success, unknown > 10], [1, false, true]);
      const text = (await runMesh(["check", "--kubeconfig", nobody])).stdout;
      assert.match(
        text,
        /\n\d+ checks could not run: "kubectl mesh check --rbac" .*\nStatus check results are \?: /,
      );
    });
    await t.step("a user who may not list webhook configurations gets no answer about them", async () => {
      const { code, verdict, injected, by } = await explained(viewer);
      assert.deepEqual([code, verdict, injected, by], [1, "cannot-tell", null, null]);
      await kubectl("label", "namespace", "mesh", "istio-injection=disabled", "--overwrite");
      const disabled = await explained(viewer);
      assert.deepEqual([disabled.code, disabled.verdict, disabled.injected], [0, "not-injected", false]);
      await kubectl("label", "namespace", "mesh", "istio-injection=enabled", "--overwrite");
    });
    await t.step("a pod that the API server admits", async () => {
      for (const kubeconfig of [cluster.kubeconfig, readerConfig]) {
        const { code, verdict, injected } = await explained(kubeconfig);
        assert.deepEqual([code, verdict, injected], [0, "injected", true]);
      }
    });
    await t.step("a pod that Pod Security refuses, by a dry run and without one", async () => {
      await kubectl("label", "namespace", "mesh", "pod-security.kubernetes.io/enforce=baseline");
      const says = [/violates PodSecurity "baseline:latest"/, /Pod Security enforces baseline/];
      for (const [index, kubeconfig] of [cluster.kubeconfig, readerConfig].entries()) {
        const { code, verdict, by, message } = await explained(kubeconfig);
        assert.deepEqual([code, verdict, by], [1, "refused", null]);
        assert.match(message, says[index] ?? /^$/);
      }
    });
  } finally {
    await mesh.stop();
  }
});
