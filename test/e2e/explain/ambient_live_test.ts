/** Pods in ambient mode, read through a real API server that forwards the port of the node's ztunnel. */
import assert from "node:assert/strict";
import { ANSWER } from "../../../src/explain/answer_schema.ts";
import { POD_SUMMARY } from "../../../src/explain/summary/pod_summary_schema.ts";
import { fakeZtunnel } from "../../../src/explain/ztunnel/fake_ambient_test.ts";
import { sayMesh } from "../../support/programs/mesh.ts";
import { testWhen } from "../../support/test_when.ts";
import { type Cluster, needsCluster, startCluster } from "../support/cluster/cluster.ts";
import { createNamespace } from "../support/cluster/requests.ts";
import { addRunningPod, startKubelet } from "../support/kubelet.ts";

const NODE = "node-1";

testWhen(needsCluster(), "pods in ambient mode are read from the ztunnel of their node", async (t) => {
  const asked: string[] = [];
  const dump = JSON.stringify(fakeZtunnel({}));
  const ztunnel = Deno.serve({ hostname: "127.0.0.1", port: 0, onListen: () => {} }, (request) => {
    asked.push(new URL(request.url).pathname);
    return new Response(dump);
  });
  const cluster = await startCluster();
  const node = await startKubelet(cluster, NODE);
  try {
    await node.runs({ "istio-system/ztunnel-1/istio-proxy": { ports: { 15000: `127.0.0.1:${ztunnel.addr.port}` } } });
    for (const name of ["shop", "istio-system"]) await createNamespace(cluster, name);
    await addPod(cluster, "istio-system/ztunnel-1", { labels: { app: "ztunnel" } });
    const annotations = { "ambient.istio.io/redirection": "enabled" };
    await addPod(cluster, "shop/cart-1", { annotations }, "10.0.0.8");
    await addPod(cluster, "shop/catalog-1", { annotations }, "10.0.0.9");

    await t.step("the summary", async () => {
      const { stdout, stderr } = await explain(cluster, "pod/cart-1", "-o", "json");
      const { ambient, findings } = POD_SUMMARY.parse(JSON.parse(stdout));
      assert.equal(ambient?.message, "the ztunnel of its node accepts HBONE tunnels for the pod", stderr);
      assert.deepEqual(findings, []);
      assert.deepEqual(asked, ["/config_dump"]);
    });

    await t.step("a connection: the node's ztunnel is asked once", async () => {
      asked.length = 0;
      const { stdout } = await explain(cluster, "pod/cart-1", "--to", "catalog:80", "-o", "json");
      const { stations } = ANSWER.parse(JSON.parse(stdout));
      const kinds = stations.map(({ kind, pod }) => `${pod.slice(pod.indexOf("/") + 1)} ${kind}`);
      assert.deepEqual(kinds, [
        "cart-1 application",
        "cart-1 dns",
        "cart-1 kernel",
        "cart-1 ztunnel",
        "cart-1 endpoint",
        "cart-1 tls",
      ]);
      assert.deepEqual(asked, ["/config_dump"]);
    });

    await t.step("all pods of the namespace", async () => {
      const { stdout } = await explain(cluster, "-l", "mesh=yes");
      assert.match(stdout, /pod shop\/cart-1[^]*Ambient mode[^]*pod shop\/catalog-1/);
    });

    await t.step("a ztunnel that does not answer", async () => {
      await node.runs({});
      await silent(cluster);
    });
  } finally {
    await node.stop();
    await cluster.stop();
    await ztunnel.shutdown();
  }
});

async function silent(cluster: Cluster): Promise<void> {
  const { stdout } = await explain(cluster, "pod/cart-1", "-o", "json");
  const { ambient } = POD_SUMMARY.parse(JSON.parse(stdout));
  assert.match(ambient?.message ?? "", /is unknown: No answer from port 15000 of pod "istio-system\/ztunnel-1"/);
}

function explain({ kubeconfig }: Cluster, ...args: string[]) {
  return sayMesh(["explain", "-n", "shop", ...args], { env: { KUBECONFIG: kubeconfig } });
}

async function addPod(cluster: Cluster, path: string, metadata: object, podIP = "10.0.0.70"): Promise<void> {
  const [namespace = "", name = ""] = path.split("/");
  await addRunningPod(cluster, {
    metadata: { name, namespace, labels: { mesh: "yes" }, ...metadata },
    spec: { nodeName: NODE, containers: [{ name: "app", image: "app" }] },
    status: { phase: "Running", podIP, podIPs: [{ ip: podIP }], conditions: [{ type: "Ready", status: "True" }] },
  });
}
