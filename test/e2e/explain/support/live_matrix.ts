/** `explain --matrix` on a scene. */
import assert from "node:assert/strict";
import { until } from "../../../support/until.ts";
import { reported } from "../../support/cluster/requests.ts";
import { AS_APPLICATION, explain, guestsOf, proxyOf } from "./live_guests.ts";
import { IMAGE, RUNNING, type Scene } from "./live_scene.ts";

/** Starts the ephemeral container of each pod, as a kubelet does. Returns their names. */
async function startGuests(scene: Scene, pods: readonly string[], known: ReadonlyMap<string, readonly string[]>) {
  const { cluster, node, containers } = scene;
  const names = new Map<string, string>();
  await until(async () => {
    for (const pod of pods) {
      const added = (await guestsOf(scene, pod)).find((each) => !known.get(pod)?.includes(each));
      if (added !== undefined) names.set(pod, added);
    }
    return names.size === pods.length;
  }, () => "not every pod has an ephemeral container");
  const proxy = proxyOf(scene);
  const hosts = `${scene.folder}/hosts`;
  await Deno.writeTextFile(hosts, "10.196.0.1 a.shop.svc.cluster.local\n");
  const resolves = ["unshare", "-m", "sh", "-c", `mount --bind ${hosts} /etc/hosts && exec "$@"`, "sh"];
  const guest = { ...proxy, command: [...proxy.command, ...resolves, ...AS_APPLICATION] };
  const own = [...names].map(([pod, name]) => [`shop/${pod}/${name}`, guest] as const);
  await node.runs({ ...containers, ...Object.fromEntries(own) });
  for (const [pod, name] of names) {
    const status = { name, image: IMAGE, imageID: "", ready: false, restartCount: 0, state: RUNNING };
    const object = { apiVersion: "v1", kind: "Pod", metadata: { name: pod, namespace: "shop" } };
    await reported(cluster, object, { ephemeralContainerStatuses: [status] });
  }
  return names;
}

/** Every workload to every Service: first as configured, then proved by a request of each pod. */
export async function matrix(scene: Scene): Promise<void> {
  const pods = ["web", "admin", "ended"];
  const { stdout } = await explain(scene, "explain", "--matrix", "-n", "shop");
  assert.match(stdout, /^FROM +a\.shop:80 +a\.shop:81\nshop\/admin +unknown +unknown\n/);
  const known = new Map(await Promise.all(pods.map(async (pod) => [pod, await guestsOf(scene, pod)] as const)));
  const running = explain(scene, "explain", "--matrix", "--probe", "-n", "shop");
  const names = await startGuests(scene, pods, known);
  const proved = await running;
  assert.match(proved.stdout, /^shop\/admin +reaches, proved +unknown \(connected\)$/m, proved.stderr);
  assert.match(proved.stdout, /^shop\/web +reaches, proved +unknown \(connected\)$/m);
  assert.equal(proved.stderr.match(/^Adding the ephemeral container/gm)?.length, pods.length, "one for each pod");
  for (const [pod, name] of names) {
    const added = (await guestsOf(scene, pod)).filter((each) => !known.get(pod)?.includes(each));
    assert.deepEqual(added, [name]);
  }
  await scene.node.runs(scene.containers);
}
