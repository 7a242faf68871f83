/** `kubectl mesh <TAB>`: kubectl runs what install-kubectl wrote, and live values come from an API server. */
import assert from "node:assert/strict";
import { MESH_COMMAND } from "../../support/programs/mesh.ts";
import { testWhen } from "../../support/test_when.ts";
import { type Cluster, needsCluster, startCluster } from "../support/cluster/cluster.ts";
import { addServiceAccount } from "../support/cluster/requests.ts";

const OBJECTS = [
  workload("apps/v1", "Deployment", "web"),
  workload("apps/v1", "StatefulSet", "db"),
  {
    apiVersion: "v1",
    kind: "Pod",
    metadata: { name: "web-1", namespace: "shop" },
    spec: { containers: [container()] },
  },
  {
    apiVersion: "admissionregistration.k8s.io/v1",
    kind: "MutatingWebhookConfiguration",
    metadata: { name: "istio-sidecar-injector-canary", labels: { "istio.io/rev": "canary", "istio.io/tag": "next" } },
  },
];

function container() {
  return { name: "web", image: "web" };
}

function workload(apiVersion: string, kind: string, name: string) {
  const labels = { app: name };
  const template = { metadata: { labels }, spec: { containers: [container()] } };
  const spec = { selector: { matchLabels: labels }, template, ...kind === "StatefulSet" ? { serviceName: name } : {} };
  return { apiVersion, kind, metadata: { name, namespace: "shop" }, spec };
}

/** Words after `kubectl mesh`, and lines of the answer: all of them, or with `...` some. */
const ADMIN: readonly (readonly [words: string, lines: readonly string[]])[] = [
  ["inj", ["inject\tWrite manifests with the sidecar injected", ":4"]],
  ["check -n sh", ["shop", ":4"]],
  ["check --context ''", ["e2e", ":4"]],
  ["check --only=webhook-reach", ["webhook-reachable\tthe API server reaches the webhook", ":4"]],
  ["check injection -n shop deployment/", ["deployment/web", ":4"]],
  ["check injection -n shop sts d", ["db", ":4"]],
  ["explain -n shop w", ["web-1", ":4"]],
  ["snapshot -n shop pod/", ["pod/web-1", ":4"]],
  ["check --revision ''", ["canary", "next", "default", ":4"]],
  ["inject --from-cluster -n sh", ["shop", ":4"]],
  ["inject -n sh", [":4"]],
  ["inject -f ''", ["yaml", "yml", "json", ":8"]],
];

/** What a user without rights gets: what is known without the cluster. */
const NOBODY: typeof ADMIN = [
  ["check --as nobody -n ''", ["default", ":4"]],
  ["check injection --as nobody -n shop deployment/", [":4"]],
  ["explain --as nobody -n shop w", [":4"]],
  ["check --as nobody --revision ''", ["default", ":4"]],
  ["check --as nobody --context ''", ["e2e", ":4"]],
];

testWhen(needsCluster(), "kubectl completes kubectl mesh", async (t) => {
  const cluster = await startCluster();
  const folder = await Deno.makeTempDir({ prefix: "mesh-completion-" });
  try {
    await cluster.kubectl(["create", "namespace", "shop"]);
    await addServiceAccount(cluster, "shop");
    const list = { apiVersion: "v1", kind: "List", items: OBJECTS };
    const { code, stderr } = await cluster.kubectl(["apply", "-f", "-"], JSON.stringify(list));
    assert.equal(code, 0, stderr);
    await Deno.symlink(MESH_COMMAND, `${folder}/kubectl-mesh`);
    // $0 is kubectl. With a flag in front it does not know __complete.
    const kubectl = (words: string) =>
      cluster.shell(
        `export PATH="${folder}:$PATH" KUBECONFIG="$CONFIG" KUBECACHEDIR="${folder}/names" MESH_COMPLETION_TIMEOUT=60s; command "$0" ${words}`,
      );
    await t.step("before install-kubectl it knows nothing", async () => {
      assert.doesNotMatch((await kubectl("__complete mesh inj")).stdout, /inject/);
    });
    await t.step("install-kubectl writes beside the plugin", async () => {
      const { code, stdout } = await cluster.shell(
        `PATH="${folder}:$PATH" "${folder}/kubectl-mesh" completion install-kubectl`,
      );
      assert.deepEqual([code, stdout], [0, `${folder}/kubectl_complete-mesh\n`]);
    });
    for (const [words, lines] of [...ADMIN, ...NOBODY]) {
      await t.step(`kubectl mesh ${words}`, async () => {
        const { stdout, stderr } = await kubectl(`__complete mesh ${words}`);
        assert.deepEqual(stdout.trimEnd().split("\n"), lines);
        // kubectl prints its own help here.
        assert.doesNotMatch(stderr, /error|mesh:/i);
      });
    }
    await t.step("without the plugin it says nothing", () => saysNothing(cluster, folder));
  } finally {
    await Deno.remove(folder, { recursive: true });
    await cluster.stop();
  }
});

async function saysNothing(cluster: Cluster, folder: string): Promise<void> {
  await Deno.remove(`${folder}/kubectl-mesh`);
  const { stdout, stderr } = await cluster.shell(`PATH=/usr/bin:/bin "${folder}/kubectl_complete-mesh" inj`);
  assert.deepEqual([stdout, stderr], ["", ""]);
}
