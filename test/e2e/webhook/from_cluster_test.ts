/** The configuration of a control plane in a real cluster: read by `inject`, watched by `webhook serve`. */
import assert from "node:assert/strict";
import type { Value } from "../../../src/base/value.ts";
import { BUILT_IN } from "../../../src/inject/mod.ts";
import { runMesh } from "../../support/programs/mesh.ts";
import { testWhen } from "../../support/test_when.ts";
import { type Cluster, needsCluster, startCluster } from "../support/cluster/cluster.ts";
import { until } from "../../support/until.ts";
import { apply, kubectl, PROXY_CONFIGS, register, startWebhook, type WebhookProcess } from "../support/webhook.ts";
import { createNamespace, tried } from "../support/cluster/requests.ts";

const CASE = "examples/helloworld.yaml";

testWhen(needsCluster(), "the configuration of a cluster's control plane", async (t) => {
  const cluster = await startCluster();
  try {
    await t.step("inject names missing and existing ConfigMaps", () => namesWhatExists(cluster));
    await t.step("inject uses the ConfigMaps of the revision", () => injects(cluster));
    await t.step("errors name the missing rights", () => isForbidden(cluster));
    await t.step("webhook serve follows the ConfigMaps", () => follows(cluster));
    await t.step(
      "webhook serve follows ProxyConfigs and the annotations of OpenShift on namespaces",
      () => followsFacts(cluster),
    );
    await t.step("webhook serve does not start without them", () => doesNotStart(cluster));
  } finally {
    await cluster.stop();
  }
});

async function inject(cluster: Cluster, ...flags: string[]) {
  const named = ["inject", "-f", CASE, "--from-cluster", "--kubeconfig", cluster.kubeconfig, "--report", "none"];
  return await runMesh([...named, ...flags]);
}

/** Installs the two ConfigMaps of a revision, with images of this registry. */
async function install(cluster: Cluster, hub: string, suffix = ""): Promise<void> {
  const metadata = (name: string) => ({ name: `${name}${suffix}`, namespace: "istio-system" });
  const values = BUILT_IN.values.replace(/^( +)hub: .*$/m, `$1hub: ${hub}`);
  const map = (name: string, data: Record<string, Value>) =>
    apply(cluster, { apiVersion: "v1", kind: "ConfigMap", metadata: metadata(name), data });
  await map("istio-sidecar-injector", { config: BUILT_IN.config, values });
  await map("istio", { mesh: BUILT_IN.mesh });
}

async function namesWhatExists(cluster: Cluster): Promise<void> {
  const noNamespace = await inject(cluster);
  assert.deepEqual([noNamespace.code, noNamespace.stdout], [1, ""]);
  assert.match(
    noNamespace.stderr,
    /^error: The ConfigMap "istio(-sidecar-injector)?" does not exist in the namespace "istio-system" of https:\S+; the namespace has no ConfigMap of Istio, or does not exist: set Istio's namespace with --istioNamespace\n$/,
  );
  await kubectl(cluster, ["create", "namespace", "istio-system"]);
  await install(cluster, "plain.test");
  await install(cluster, "canary.test", "-canary");
  const other = await inject(cluster, "--revision", "stable");
  assert.match(other.stderr, /found "istio", "istio-canary", "istio-sidecar-injector", .*choose with --revision/);
  const elsewhere = await inject(cluster, "--istioNamespace", "default");
  assert.match(elsewhere.stderr, /the namespace has no ConfigMap of Istio/);
}

async function injects(cluster: Cluster): Promise<void> {
  const images = async (...flags: string[]) => {
    const { code, stdout, stderr } = await inject(cluster, ...flags);
    assert.equal(code, 0, stderr);
    return new Set(stdout.match(/\w+\.test(?=\/proxyv2)/g));
  };
  assert.deepEqual(await images(), new Set(["plain.test"]));
  assert.deepEqual(await images("--revision", "canary"), new Set(["canary.test"]));
  const named = ["--injectConfigMapName", "istio-sidecar-injector-canary", "--meshConfigMapName", "istio"];
  assert.deepEqual(await images(...named), new Set(["canary.test"]));
  assert.deepEqual(await images("--hub", "mine.test"), new Set(["mine.test"]));
}

async function isForbidden(cluster: Cluster): Promise<void> {
  const config = JSON.parse(await Deno.readTextFile(cluster.kubeconfig));
  config.users[0].user.as = "joe";
  const kubeconfig = `${cluster.kubeconfig}-joe`;
  await Deno.writeTextFile(kubeconfig, JSON.stringify(config));
  const { code, stderr } = await inject(cluster, "--kubeconfig", kubeconfig);
  assert.equal(code, 1);
  assert.match(stderr, /User "joe" cannot get resource "configmaps".* in the namespace "istio-system"; /);
}

async function follows(cluster: Cluster): Promise<void> {
  await createNamespace(cluster, "mesh", { "istio-injection": "enabled" });
  const webhook = await startWebhook({ flags: ["--from-cluster", "--kubeconfig", cluster.kubeconfig] });
  try {
    await register(cluster, { port: webhook.port, authority: webhook.authority });
    await until(async () => await imageOf(cluster) === "plain.test", "Never: the webhook is called");
    await install(cluster, "new.test");
    await until(async () => await imageOf(cluster) === "new.test", "Never: the new configuration counts");
    await keepsTheGood(cluster, webhook);
    await kubectl(cluster, ["delete", "configmap", "-n", "istio-system", "istio"]);
    await until(
      async () => (await ready(webhook)).includes('istio-system/istio" was deleted'),
      "Never: the lost ConfigMap is reported",
    );
    assert.equal(await imageOf(cluster), "new.test");
    await install(cluster, "again.test");
    await until(async () => await imageOf(cluster) === "again.test", "Never: it is well again");
    assert.match(await ready(webhook), /\[\+\]config ok/);
  } finally {
    assert.equal(await webhook.stop(), 0, webhook.log());
  }
}

async function keepsTheGood(cluster: Cluster, webhook: WebhookProcess): Promise<void> {
  const patch = { data: { config: "templates: {sidecar: '{{ if }}'}" } };
  const map = ["configmap", "-n", "istio-system", "istio-sidecar-injector"];
  await kubectl(cluster, ["patch", ...map, "--type=merge", "-p", JSON.stringify(patch)]);
  await webhook.logged("Cannot use the new configuration, keeping the previous one");
  assert.match(await ready(webhook), /config failed: ConfigMap "istio-system\/istio-sidecar-injector".*missing value/);
  assert.equal(await imageOf(cluster), "new.test");
}

async function ready({ plainPort }: WebhookProcess): Promise<string> {
  return await (await fetch(`http://127.0.0.1:${plainPort}/ready?verbose`)).text();
}

/** The registry of the proxy's image in a new pod; `""` without a proxy. */
async function imageOf(cluster: Cluster): Promise<string> {
  return /([\w.]+)\/proxyv2/.exec(await probePod(cluster))?.[1] ?? "";
}

function proxyConfig(value: string): Value {
  const metadata = { name: "all", namespace: "mesh" };
  const spec = { environmentVariables: { OF_THE_NAMESPACE: value } };
  return { apiVersion: "networking.istio.io/v1beta1", kind: "ProxyConfig", metadata, spec };
}

async function followsFacts(cluster: Cluster): Promise<void> {
  await apply(cluster, PROXY_CONFIGS);
  await kubectl(cluster, ["wait", "--for=condition=Established", "crd", PROXY_CONFIGS.metadata.name]);
  await until(
    async () => (await cluster.kubectl(["get", "proxyconfigs", "-A"])).code === 0,
    "Never: the type is served",
  );
  const flags = ["--from-cluster", "--kubeconfig", cluster.kubeconfig];
  const webhook = await startWebhook({ flags, env: { PLATFORM: "openshift" } });
  const probeHas = async (text: string) => (await probePod(cluster)).includes(text);
  try {
    await register(cluster, { port: webhook.port, authority: webhook.authority });
    await until(() => probeHas("again.test/proxyv2"), "Never: the webhook is called");
    for (const value of ["first-value", "second-value"]) {
      await apply(cluster, proxyConfig(value));
      await until(() => probeHas(value), `Never: the ProxyConfig has ${value}`);
    }
    await kubectl(cluster, ["delete", "proxyconfig", "-n", "mesh", "all"]);
    await until(async () => !await probeHas("OF_THE_NAMESPACE"), "Never: the ProxyConfig is gone");
    await kubectl(cluster, ["annotate", "namespace", "mesh", "openshift.io/sa.scc.uid-range=1000650000/10000"]);
    await until(() => probeHas('"runAsUser":1000659999'), "Never: the user is one of the namespace");
  } finally {
    assert.equal(await webhook.stop(), 0, webhook.log());
  }
}

/** A new pod as JSON; `""` if it is denied. */
async function probePod(cluster: Cluster): Promise<string> {
  const metadata = { name: "probe", namespace: "mesh" };
  const containers = [{ name: "app", image: "example.com/app:1" }];
  const pod = { apiVersion: "v1", kind: "Pod", metadata, spec: { containers } };
  const { made } = await tried(cluster, pod);
  return made === undefined ? "" : JSON.stringify(made);
}

async function doesNotStart(cluster: Cluster): Promise<void> {
  const flags = ["--from-cluster", "--kubeconfig", cluster.kubeconfig, "--meshConfigMapName", "nothing"];
  await assert.rejects(startWebhook({ flags }), /it ended with 1: error: The ConfigMap "nothing" does not exist/);
}
