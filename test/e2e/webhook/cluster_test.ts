/** The webhook over time: it stops, returns, and gets new certificates and configurations while pods are created. */
import assert from "node:assert/strict";
import { setTimeout as delay } from "node:timers/promises";
import { connect, type KubeConnection } from "../../../src/kube/client/mod.ts";
import { isMap, type ValueMap } from "../../../src/base/value.ts";
import { realWorld } from "../../../src/platform/mod.ts";
import { BUILT_IN } from "../../../src/inject/mod.ts";
import { type TestCertificate, testCertificate } from "../../support/tls/certificates.ts";
import { runMesh } from "../../support/programs/mesh.ts";
import { freePort } from "../../support/ports.ts";
import { testWhen } from "../../support/test_when.ts";
import { type Cluster, needsCluster, startCluster } from "../support/cluster/cluster.ts";
import { dryRun, held } from "../support/pods.ts";
import { until } from "../../support/until.ts";
import {
  create,
  DRY_RUN,
  register,
  startWebhook,
  statusOf,
  triedStatus,
  type WebhookProcess,
} from "../support/webhook.ts";
import { createNamespace, got, removed, tried } from "../support/cluster/requests.ts";

const ROOT = decodeURIComponent(new URL("../../../", import.meta.url).pathname);
const CONFIGURATION = { config: BUILT_IN.config, values: BUILT_IN.values, mesh: BUILT_IN.mesh };

testWhen(needsCluster(), "webhook lifecycle in a cluster", async (t) => {
  const cluster = await startCluster();
  const api = await connect(realWorld(), { kubeconfig: cluster.kubeconfig });
  try {
    for (const name of ["plain", "istio-system"]) await createNamespace(cluster, name);
    await createNamespace(cluster, "mesh", { "istio-injection": "enabled" });
    await t.step("while it is down, failurePolicy decides", () => decidesWhileDown(cluster));
    await withWebhook(cluster, async (webhook) => {
      await t.step("after it is back, refused pods are injected", () => comesBack(cluster));
      await t.step("a dry run is answered and stores nothing", () => answersDryRun(cluster, webhook));
      await t.step("a re-created pod equals the deleted one", () => makesAgain(cluster));
      await t.step("the webhook and inject make the same pods of the examples", () => equalsInject(cluster));
    });
    await t.step(
      "certificates and configurations change under load; no review fails",
      () => changes(cluster, api),
    );
  } finally {
    api.close();
    await cluster.stop();
  }
});

function pod(name: string, namespace: string): ValueMap {
  const containers = [{ name: "app", image: "example.com/app:1" }];
  const spec = { automountServiceAccountToken: false, containers };
  return { apiVersion: "v1", kind: "Pod", metadata: { name, namespace }, spec };
}

async function decidesWhileDown(cluster: Cluster): Promise<void> {
  const { authority } = testCertificate();
  const port = freePort();
  await register(cluster, { port, authority, failurePolicy: "Fail" });
  let said = "";
  await until(async () => {
    said = (await tried(cluster, pod("refused", "mesh"))).refusal;
    return said !== "";
  }, "Never: the API server refuses pods of the mesh");
  assert.match(said, /failed calling webhook "namespace\.sidecar-injector\.istio\.io".*connection refused/);
  for (const namespace of ["plain", "istio-system"]) {
    const [made] = await create(cluster, [pod("elsewhere", namespace)]);
    assert.equal(statusOf(made ?? null), undefined);
  }
  await register(cluster, { port, authority, failurePolicy: "Ignore" });
  await until(async () => {
    return (await tried(cluster, pod("ignored", "mesh"))).refusal === "";
  }, "Never: the API server takes pods of the mesh");
  const [ignored] = await create(cluster, [pod("ignored", "mesh")]);
  assert.equal(statusOf(ignored ?? null), undefined);
}

/** Runs a webhook that the API server calls, with the policy Fail, until the body has ended. */
async function withWebhook(cluster: Cluster, body: (webhook: WebhookProcess) => Promise<void>): Promise<void> {
  const webhook = await startWebhook(CONFIGURATION);
  try {
    await register(cluster, { port: webhook.port, authority: webhook.authority });
    await isCalled(cluster);
    await body(webhook);
  } finally {
    assert.equal(await webhook.stop(), 0, webhook.log());
  }
}

async function isCalled(cluster: Cluster): Promise<void> {
  const isCalled = async () => await triedStatus(cluster, pod("probe", "mesh")) !== undefined;
  await until(isCalled, "Never: the webhook is called");
}

async function comesBack(cluster: Cluster): Promise<void> {
  const [made] = await create(cluster, [pod("refused", "mesh")]);
  assert.deepEqual(statusOf(made ?? null)?.["containers"], ["istio-proxy"]);
}

async function answersDryRun(cluster: Cluster, webhook: WebhookProcess): Promise<void> {
  const [dry] = await create(cluster, [pod("dry", "mesh")], DRY_RUN);
  assert.notEqual(statusOf(dry ?? null), undefined);
  await assert.rejects(got(cluster, "/api/v1/namespaces/mesh/pods/dry"), /not found/);
  assert.doesNotMatch(webhook.log(), /example\.com/);
}

async function makesAgain(cluster: Cluster): Promise<void> {
  const [first] = await create(cluster, [pod("again", "mesh")]);
  await removed(cluster, pod("again", "mesh"));
  const [second] = await create(cluster, [pod("again", "mesh")]);
  assert.notEqual(statusOf(first ?? null), undefined);
  assert.deepEqual(held(second), held(first));
}

async function equalsInject(cluster: Cluster): Promise<void> {
  const names = await Array.fromAsync(Deno.readDir(`${ROOT}examples`), ({ name }) => name);
  const files = names.filter((name) => name.endsWith(".yaml")).map((name) => `${ROOT}examples/${name}`);
  const text = (await Promise.all(files.map((file) => Deno.readTextFile(file)))).join("\n---\n");
  const injected = await runMesh(["inject", "-f", "-", "-n", "mesh", "--report", "none"], { stdin: text });
  assert.equal(injected.code, 0, injected.stderr);
  const byHand = await dryRun(cluster, injected.stdout, "plain");
  const byWebhook = await dryRun(cluster, text, "mesh");
  assert.deepEqual(byWebhook.map(held), byHand.map(held));
  for (const each of byWebhook) assert.notEqual(statusOf(each), undefined);
  assert.ok(byWebhook.length > 5);
}

const CLIENTS = 4;
const ROUNDS = 4;
/** Milliseconds between two pods of a client. The webhook looks for new files only every few seconds. */
const PAUSE = 50;

/** Creates pods under load: none is refused, each is injected by the old or the new configuration. */
async function changes(cluster: Cluster, api: KubeConnection): Promise<void> {
  const certificates = Array.from({ length: ROUNDS }, () => testCertificate());
  const webhook = await startWebhook(CONFIGURATION);
  const authority = [webhook.authority, ...certificates.map(({ authority }) => authority)].join("");
  const stop = new AbortController();
  const images = new Set<string>();
  try {
    await register(cluster, { port: webhook.port, authority });
    await isCalled(cluster);
    const load = Array.from({ length: CLIENTS }, () => createPods(api, stop.signal, images));
    for (const [round, certificate] of certificates.entries()) {
      const from = webhook.log().length;
      await webhook.certify(certificate);
      await webhook.write("values.yaml", `${BUILT_IN.values}\n`.replace(/^( +)hub: .*$/m, `$1hub: hub-${round}.test`));
      await until(() => isServed(webhook, certificate), "Never: the new certificate is served");
      await webhook.logged("The new configuration is in force", from);
      await until(() => [...images].some(isOf(round)), "Never: the new configuration counts");
    }
    stop.abort();
    const counts = await Promise.all(load);
    assert.ok(counts.every((count) => count > 0), `${counts}`);
    assert.ok([...images].every((image) => image !== ""), "a pod was not injected");
  } finally {
    stop.abort();
    assert.equal(await webhook.stop(), 0, webhook.log());
  }
}

function isOf(round: number): (image: string) => boolean {
  return (image) => image.startsWith(`hub-${round}.test/`);
}

/** Creates pods as dry runs, one after another. Returns how many. Throws if one is refused. */
async function createPods(api: KubeConnection, signal: AbortSignal, images: Set<string>): Promise<number> {
  let count = 0;
  for (; !signal.aborted; count++) {
    const made = await api.create("/api/v1/namespaces/mesh/pods?dryRun=All", pod("load", "mesh"));
    images.add(proxyImage(made));
    await delay(PAUSE);
  }
  return count;
}

/** The image of the proxy, `""` without one. */
function proxyImage({ spec = null }: ValueMap): string {
  const containers = isMap(spec) && Array.isArray(spec["containers"]) ? spec["containers"].filter(isMap) : [];
  const proxy = containers.find(({ name }) => name === "istio-proxy");
  return String(proxy?.["image"] ?? "");
}

async function isServed({ port }: WebhookProcess, { authority }: TestCertificate): Promise<boolean> {
  const connection = await Deno.connectTls({ hostname: "127.0.0.1", port, caCerts: [authority] });
  try {
    await connection.handshake();
    return true;
  } catch {
    return false;
  } finally {
    connection.close();
  }
}
