import assert from "node:assert/strict";
import { mapAt, mapsAt, textAt } from "../../../src/base/value.ts";
import { testWhen } from "../../support/test_when.ts";
import { until } from "../../support/until.ts";
import { BACK_ENDS } from "../iptables/support/back_ends.ts";
import { type Cluster, needsCluster, startCluster } from "../support/cluster/cluster.ts";
import { TOKEN } from "../support/cluster/api_server.ts";
import { applied, created, got } from "../support/cluster/requests.ts";
import { Installer } from "./support/installer.ts";
import { CniNode } from "./support/node.ts";
import { KINDS, StandingPod } from "./support/pods.ts";

const MISSING = needsCluster() ?? BACK_ENDS.find(({ name }) => name === "nft")?.missing;
const KNOWN = ["silent", "failed"] as const;

/** A cluster with the node and a namespace, and pods of every kind without capture. */
async function startScene(open: AsyncDisposableStack) {
  const cluster = await startCluster();
  open.defer(() => cluster.stop());
  await applied(cluster, { apiVersion: "v1", kind: "Namespace", metadata: { name: "shop" } });
  await applied(cluster, {
    apiVersion: "v1",
    kind: "ServiceAccount",
    metadata: { name: "default", namespace: "shop" },
  });
  await created(cluster, { apiVersion: "v1", kind: "Node", metadata: { name: "node-1" } });
  const node = open.use(await CniNode.create());
  await node.configure("1.0.0");
  const pods: StandingPod[] = [];
  for (const kind of KINDS) {
    for (const known of KNOWN) pods.push(open.use(await StandingPod.create(cluster, pods.length, kind, known)));
  }
  // The installer sees the processes of these pods only.
  await Deno.mkdir(`${node.folder}/proc`);
  for (const { process: { pid } } of pods) await Deno.symlink(`/proc/${pid}`, `${node.folder}/proc/${pid}`);
  const api = { port: Number(new URL(cluster.url).port), authority: await cluster.authority(), token: TOKEN };
  return { cluster, node, pods, start: (args: readonly string[]) => Installer.start(node, api, args) };
}

/** Metadata of the pods that nobody has deleted: without a kubelet they stay. */
async function podsOf(cluster: Cluster) {
  return mapsAt(await got(cluster, "/api/v1/namespaces/shop/pods"), "items").map((pod) => mapAt(pod, "metadata"))
    .filter((metadata) => metadata["deletionTimestamp"] === undefined);
}

async function reasonsOf(cluster: Cluster): Promise<string[]> {
  return mapsAt(await got(cluster, "/api/v1/namespaces/shop/events"), "items").map((event) => textAt(event, "reason"));
}

testWhen(MISSING, "fix makes the rules of 20 of 20 pods of every kind, and leaves other pods alone", async () => {
  await using open = new AsyncDisposableStack();
  const { cluster, pods, start } = await startScene(open);
  assert.equal(pods.length, 20);
  const installer = open.use(await start(["--repair", "fix", "--native-nftables"]));
  await installer.becomes(200);
  const captured = async () => (await Promise.all(pods.map((pod) => pod.isCaptured()))).filter(Boolean).length;
  await until(async () => await captured() === 20, () => installer.log);
  await until(
    async () => (await installer.metrics()).includes('repaired_total{type="repair",result="success"} 20'),
    () => installer.log,
  );
  assert.equal((await podsOf(cluster)).length, 20);
  assert.deepEqual([...new Set(await reasonsOf(cluster))], ["RepairBrokenPod"]);
});

testWhen(MISSING, "label marks 20 of 20 pods, delete removes them; captured pods stay", async () => {
  await using open = new AsyncDisposableStack();
  const { cluster, pods, start } = await startScene(open);
  const labelled = async () =>
    (await podsOf(cluster)).filter((pod) => textAt(mapAt(pod, "labels"), "cni.istio.io/uninitialized") === "true")
      .length;
  {
    await using installer = await start(["--repair", "label"]);
    await until(async () => await labelled() === 20, () => installer.log);
    await installer.end();
  }
  assert.ok(!(await Promise.all(pods.map((pod) => pod.isCaptured()))).includes(true));
  // One pod gets its rules by hand: only its namespace shows it.
  const [kept] = pods.filter(({ name }) => name.endsWith("-silent"));
  assert.ok(kept !== undefined);
  const apply = await kept.namespace.mesh([
    "iptables",
    "apply",
    "--native-nftables",
    "-b",
    "*",
    "-i",
    "*",
    "-u",
    "1337",
  ]);
  assert.equal(apply.code, 0, apply.stderr);
  await using installer = await start(["--repair", "delete"]);
  await until(async () => (await podsOf(cluster)).length === 1, () => installer.log);
  assert.deepEqual((await podsOf(cluster)).map((pod) => textAt(pod, "name")), [kept.name]);
});
