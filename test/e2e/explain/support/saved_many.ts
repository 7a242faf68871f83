/** The parts of a snapshot of many pods beside the configuration of the proxies. */
import assert from "node:assert/strict";
import { POD_SUMMARY } from "../../../../src/explain/summary/pod_summary_schema.ts";
import { sayMesh } from "../../../support/programs/mesh.ts";
import { created, createNamespace } from "../../support/cluster/requests.ts";
import { addRunningPod } from "../../support/kubelet.ts";
import { RUNNING, type Scene } from "./live_scene.ts";

const SYNCZ = [{ proxy: "web.shop", cluster_sent: "1", cluster_acked: "1" }, { proxy: "other.bank" }];

/** Adds an istiod, logs and an event, saves the pods with a label, and checks the files. */
export async function savedMany(scene: Scene): Promise<void> {
  const { cluster, node, containers, folder } = scene;
  await addIstiod(scene);
  await addLogsAndEvent(scene);
  const path = `${folder}/shop.tar.gz`;
  const mesh = (...args: string[]) => sayMesh(args, { env: { KUBECONFIG: cluster.kubeconfig } });
  const { stderr } = await mesh("snapshot", "-n", "shop", "-l", "mesh=yes", "-o", path);
  await node.runs(containers);
  assert.match(stderr, /^".*" has [23] pods, \d+ KiB$/m);
  const unpacked = `${folder}/shop`;
  await Deno.mkdir(unpacked);
  await new Deno.Command("tar", { args: ["-xzf", path, "-C", unpacked] }).output();
  assert.deepEqual(JSON.parse(await Deno.readTextFile(`${unpacked}/istiod.json`)), {
    istiods: [{
      pod: "istio-system/istiod-1",
      revision: "stable",
      image: "registry.example/pilot:1.31.0",
      version: { version: "1.31.0" },
      connected: 2,
      syncz: SYNCZ.slice(0, 1),
    }],
    problems: [],
  });
  await checkPod(unpacked);
  const again = await mesh("explain", "-f", path, "web", "-o", "json");
  assert.equal(POD_SUMMARY.parse(JSON.parse(again.stdout)).pod, "shop/web");
}

async function addIstiod({ cluster, node }: Scene): Promise<void> {
  await createNamespace(cluster, "istio-system");
  await addRunningPod(cluster, {
    metadata: { name: "istiod-1", namespace: "istio-system", labels: { app: "istiod", "istio.io/rev": "stable" } },
    spec: { nodeName: node.name, containers: [{ name: "discovery", image: "registry.example/pilot:1.31.0" }] },
    status: {
      phase: "Running",
      containerStatuses: [{ name: "discovery", image: "", imageID: "", ready: true, restartCount: 0, state: RUNNING }],
    },
  });
}

async function addLogsAndEvent({ cluster, node, containers, folder }: Scene): Promise<void> {
  const answers = {
    "pilot-discovery version -o json": '{"clientVersion":{"version":"1.31.0"}}',
    "pilot-discovery request GET /debug/syncz": JSON.stringify(SYNCZ),
  };
  const log = `${folder}/mesh.log`;
  await Deno.writeTextFile(log, `applied; token=hunter2-${crypto.randomUUID()}\n`);
  await node.runs({
    ...containers,
    "istio-system/istiod-1/discovery": { answers },
    "shop/web/istio-init": { log },
    "shop/web/istio-proxy": { ...containers["shop/web/istio-proxy"], log },
  });
  await created(cluster, {
    apiVersion: "v1",
    kind: "Event",
    metadata: { name: "web.1", namespace: "shop" },
    involvedObject: { kind: "Pod", name: "web", namespace: "shop" },
    type: "Warning",
    reason: "Unhealthy",
    message: "Readiness probe failed: password=hunter2-again",
  });
}

/** Checks the files of the pod `web`. The folder of each pod is a number. */
async function checkPod(unpacked: string): Promise<void> {
  const names = await Array.fromAsync(Deno.readDir(unpacked), ({ name }) => name);
  const folders = names.filter((name) => /^\d+$/.test(name)).map((name) => `${unpacked}/${name}`);
  const web = folders.find((each) => Deno.readTextFileSync(`${each}/manifest.json`).includes('"name": "web"'));
  assert.ok(web !== undefined);
  for (const name of ["init.log", "proxy.log"]) {
    assert.equal(await Deno.readTextFile(`${web}/${name}`), "applied; token=[redacted]\n");
  }
  const { events } = JSON.parse(await Deno.readTextFile(`${web}/events.json`));
  assert.deepEqual(events.map(({ message }: { message: string }) => message), [
    "Readiness probe failed: password=[redacted]",
  ]);
}
