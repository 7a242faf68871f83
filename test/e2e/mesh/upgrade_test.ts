/**
 * Upgrades from the istiod of the run's release to the checkout's, by revision and tag, and back, under load. No
 * request fails, and `check upgrade` says before what changes.
 */
import assert from "node:assert/strict";
import { UPGRADE, type UpgradeChange } from "../../../src/check/upgrade/upgrade_schema.ts";
import { BUILT_IN } from "../../../src/inject/mod.ts";
import { runMesh } from "../../support/programs/mesh.ts";
import { testWhen } from "../../support/test_when.ts";
import { until } from "../../support/until.ts";
import { needsCluster } from "../support/cluster/cluster.ts";
import { apply, register, startWebhook, statusOf, type WebhookProcess } from "../support/webhook.ts";
import { checkoutIstiod, Istiod, SECOND, SECURE_PORT } from "./support/istiod.ts";
import type { RunningPod } from "./support/kubelet/kubelet.ts";
import { Load } from "./support/load.ts";
import { missing, type PodPair, RealMesh } from "./support/mesh.ts";
import { deploymentOf, NAMESPACE, podOf, slicesOf } from "./support/objects.ts";
import { RELEASE } from "./support/release.ts";

const WEB = { name: "web", isDeployed: true };
/** The namespace's label names this tag: new pods follow when the tag moves. */
const TAG = "prod";
const CANARY = "canary";
const ADDRESS = `istiod-${CANARY}.istio-system.svc:${SECURE_PORT + SECOND}`;
/** The images of the two revisions are distinct. */
const NEXT = BUILT_IN.values.replace(/^( {2}tag: ).*$/m, "$19.9.9").replace(/^( {2}caAddress: ).*$/m, `$1${ADDRESS}`);
const REQUESTS = 50;

const program = await checkoutIstiod();

testWhen(
  needsCluster() ?? missing ?? program.missing,
  `upgrade: from istiod ${RELEASE?.release ?? "of the checkout"}, and back`,
  async (t) => {
    await using mesh = await RealMesh.create();
    await using next = await Canary.start(mesh);
    await using pods = new AsyncDisposableStack();
    await next.tagged(mesh.parts.webhook, "default");
    const { path, body } = deploymentOf("b", WEB);
    await mesh.parts.api.create(path, body);
    await using pair = await mesh.readyPair(WEB);
    await using load = new Load(pair);
    let said: readonly UpgradeChange[] = [];
    let first = pair.b;
    const replace = async (number: number) => {
      const pod = pods.use(await mesh.replica(WEB, number));
      await pod.startReady();
      await moves(mesh, first, pod);
      await load.answered(REQUESTS);
      first = pod;
    };
    await t.step("check upgrade names another image and another control plane", async () => {
      said = await changesOf(mesh, CANARY);
      for (const field of ["image", "env[CA_ADDR]"]) assert.ok(said.some((each) => each.field === field), field);
    });
    await t.step("the tag moves: a new pod has what check upgrade said, and no request fails", async () => {
      await next.tagged(next.webhook, CANARY);
      await replace(2);
      assert.deepEqual(load.counts().failures.slice(0, 5), []);
      assert.deepEqual(await changesOf(mesh, "default"), reversed(said));
    });
    await t.step("check upgrade names no change of the new pod", async () => {
      assert.deepEqual(await changesOf(mesh, CANARY), []);
    });
    await t.step("pods of both control planes meet in both directions", async () => {
      await using canaries = await mesh.readyPair({ name: "next" });
      await answered({ ...pair, urls: canaries.urls });
      await answered({ ...pair, a: canaries.a });
    });
    await t.step("the tag moves back: the earlier pod returns, and no request fails", async () => {
      await next.tagged(mesh.parts.webhook, "default");
      await replace(3);
      assert.deepEqual(await changesOf(mesh, CANARY), said);
      assert.deepEqual(load.counts().failures.slice(0, 5), []);
    });
  },
);

/** The control plane of the checkout as a second revision, with its webhook. */
class Canary implements AsyncDisposable {
  readonly #stack: AsyncDisposableStack;

  private constructor(readonly mesh: RealMesh, readonly webhook: WebhookProcess, stack: AsyncDisposableStack) {
    this.#stack = stack;
  }

  static async start(mesh: RealMesh): Promise<Canary> {
    await using stack = new AsyncDisposableStack();
    const { cluster, istiod, network, prober, root } = mesh.parts;
    const old = istiod.options.mesh;
    const settings = { ...old, defaultConfig: { ...old.defaultConfig, discoveryAddress: ADDRESS } };
    const texts = { config: BUILT_IN.config, values: NEXT, mesh: JSON.stringify(settings) };
    const webhook = await startWebhook({ revision: CANARY, ...texts });
    stack.defer(async () => void await webhook.stop());
    const control = stack.use(
      await Istiod.create({
        namespace: network.machine,
        prober,
        kubeconfig: cluster.kubeconfig,
        mesh: settings,
        env: { REVISION: CANARY },
        program: program.path,
        offset: SECOND,
      }),
    );
    await control.plugIn(root.files([root]));
    await control.start();
    const canary = new Canary(mesh, webhook, stack.move());
    await canary.#configure("", {
      config: RELEASE?.config ?? BUILT_IN.config,
      values: RELEASE?.values ?? BUILT_IN.values,
      mesh: JSON.stringify(old),
    });
    await canary.#configure(`-${CANARY}`, texts);
    return canary;
  }

  /** The ConfigMaps that `check upgrade` reads. */
  async #configure(suffix: string, { mesh, ...data }: Readonly<Record<"config" | "values" | "mesh", string>>) {
    for (const [name, texts] of [["istio-sidecar-injector", data], ["istio", { mesh }]] as const) {
      const metadata = { name: `${name}${suffix}`, namespace: "istio-system" };
      await apply(this.mesh.parts.cluster, { apiVersion: "v1", kind: "ConfigMap", metadata, data: texts });
    }
  }

  /** Registers both revisions, and points the namespace's tag to this one. */
  async tagged({ port, authority }: WebhookProcess, revision: string): Promise<void> {
    const { cluster, api, webhook } = this.mesh.parts;
    for (const [name, { port, authority }] of [["default", webhook], [CANARY, this.webhook]] as const) {
      await register(cluster, { revision: name, port, authority });
    }
    await register(cluster, { revision, tags: [TAG], port, authority });
    const labels = { "istio-injection": null, "istio.io/rev": TAG };
    await api.patch(`/api/v1/namespaces/${NAMESPACE}`, "merge", { metadata: { labels } });
    const { path, body } = podOf("a", { name: "tried" });
    const status = () => api.create(`${path}?dryRun=All`, body).then(statusOf, () => undefined);
    await until(async () => (await status())?.["revision"] === revision, `Never: the tag is of ${revision}`);
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#stack.disposeAsync();
  }
}

/** What a revision changes in the pod of the service, as `check upgrade` says, sorted. "From" is what the pod has now. */
async function changesOf({ parts }: RealMesh, to: string): Promise<readonly UpgradeChange[]> {
  const cluster = ["--kubeconfig", parts.cluster.kubeconfig];
  const args = ["check", "upgrade", "--to", to, "-n", NAMESPACE, "-o", "json", ...cluster];
  const { stdout, stderr } = await runMesh(args);
  assert.equal(stderr, "");
  const { workloads } = UPGRADE.parse(JSON.parse(stdout));
  const workload = workloads.find((each) => each.workload === "deployment/web-b");
  assert.deepEqual([workload?.pods, workload?.unknown], [1, null], stdout);
  return sorted(workload?.changes ?? []);
}

function reversed(changes: readonly UpgradeChange[]): readonly UpgradeChange[] {
  return sorted(changes.map(({ from, to, ...change }) => ({ ...change, from: to, to: from })));
}

function sorted(changes: readonly UpgradeChange[]): readonly UpgradeChange[] {
  const key = ({ container, field }: UpgradeChange) => `${container} ${field}`;
  return changes.toSorted((a, b) => key(a) < key(b) ? -1 : 1);
}

/** Moves the service to another pod, and sends SIGTERM to the old one, as a rollout of a Deployment does. */
async function moves({ parts: { api } }: RealMesh, from: RunningPod, to: RunningPod): Promise<void> {
  for (const { path, body } of slicesOf(WEB, to)) await api.patch(`${path}/web-ipv4`, "merge", body);
  from.proxy.signal("SIGTERM");
  const { code, stderr } = await from.proxy.end;
  assert.equal(code, 0, stderr);
  await api.remove(`/api/v1/namespaces/${NAMESPACE}/pods/${from.name}`);
}

async function answered(pair: PodPair): Promise<void> {
  await using load = new Load(pair);
  await load.answered(REQUESTS);
  const { failures } = await load.stop();
  assert.deepEqual(failures.slice(0, 5), []);
}
