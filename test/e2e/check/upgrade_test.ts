/** `check upgrade` on a real API server: pods that a webhook injected, as the API server stores them. */
import assert from "node:assert/strict";
import { UPGRADE } from "../../../src/check/upgrade/upgrade_schema.ts";
import type { ValueMap } from "../../../src/base/value.ts";
import { BUILT_IN } from "../../../src/inject/mod.ts";
import { MESH_COMMAND } from "../../support/programs/mesh.ts";
import { testWhen } from "../../support/test_when.ts";
import { until } from "../../support/until.ts";
import { type Cluster, needsCluster, startCluster } from "../support/cluster/cluster.ts";
import { apply, create, register, startWebhook, statusOf } from "../support/webhook.ts";
import { addServiceAccount } from "../support/cluster/requests.ts";

const NATIVE = BUILT_IN.values;
const NEW_VALUES = NATIVE.replace(/^( {2}tag: ).*$/m, "$19.9.9");

testWhen(
  needsCluster(),
  "check upgrade compares running pods with what would be injected",
  async (t) => {
    const cluster = await startCluster();
    const folder = await Deno.makeTempDir({ prefix: "mesh-upgrade-" });
    const webhook = await startWebhook({ config: BUILT_IN.config, values: BUILT_IN.values, mesh: BUILT_IN.mesh });
    try {
      await prepare(cluster);
      await register(cluster, { port: webhook.port, authority: webhook.authority });
      await configMaps(cluster, "", BUILT_IN.values);
      await configMaps(cluster, "-canary", NEW_VALUES);
      await injectedPods(cluster);
      // Pods are there: nothing calls the second one.
      await register(cluster, { revision: "canary", port: webhook.port, authority: webhook.authority });
      await Deno.writeTextFile(`${folder}/injector.yaml`, BUILT_IN.config);

      await t.step("the same configuration changes nothing, with the defaults of a real API server", async () => {
        for (const to of ["default", `${folder}/injector.yaml`]) {
          const { code, stdout, stderr } = await upgrade(cluster, "--to", to, "-o", "json");
          assert.deepEqual([code, stderr], [0, ""], stdout);
          const { differs, workloads } = UPGRADE.parse(JSON.parse(stdout));
          const same = { namespace: "shop", pods: 2, changes: [], unknown: null };
          const expected = ["cart", "web"].map((name) => ({ workload: `deployment/${name}`, ...same }));
          assert.deepEqual([differs, workloads], [false, expected]);
        }
      });
      await t.step("another revision changes images and the address of its control plane, reported once", async () => {
        const { code, stdout } = await upgrade(cluster, "--to", "canary");
        assert.equal(code, 1);
        assert.match(stdout, /^all 2 workloads, 4 pods:\n/);
        assert.match(
          stdout,
          /istio-proxy +env\[CA_ADDR\] +\S+ -> istiod-canary\.\S+\n(.*\n)* +istio-proxy +image +\S+ -> \S+:9\.9\.9/,
        );
        const { stdout: one } = await upgrade(cluster, "--to", "canary", "-n", "shop", "-l", "app=web");
        assert.match(one, /^shop\/deployment\/web, 2 pods:\n/);
      });
      await t.step("a user without rights learns what is missing, and gets no 0", async () => {
        const { code, stderr } = await upgrade(cluster, "--to", "canary", "--as", "nobody");
        assert.equal(code, 2);
        assert.match(stderr, /needs list on mutatingwebhookconfigurations/);
        const file = await upgrade(cluster, "--to", `${folder}/injector.yaml`, "--as", "nobody");
        assert.equal(file.code, 2);
        assert.match(file.stderr, /pods is forbidden/);
      });
      await t.step("a revision that nobody serves is an error", async () => {
        const { code, stderr } = await upgrade(cluster, "--to", "next");
        assert.equal(code, 2);
        assert.match(stderr, /No webhook serves the revision "next"; webhooks serve "default", "canary"/);
      });
    } finally {
      await Deno.remove(folder, { recursive: true });
      await webhook.stop();
      await cluster.stop();
    }
  },
);

async function prepare(cluster: Cluster): Promise<void> {
  await apply(cluster, { apiVersion: "v1", kind: "Namespace", metadata: { name: "istio-system" } });
  const labels = { "istio-injection": "enabled" };
  await apply(cluster, { apiVersion: "v1", kind: "Namespace", metadata: { name: "shop", labels } });
  await addServiceAccount(cluster, "shop");
}

async function configMaps(cluster: Cluster, suffix: string, values: string): Promise<void> {
  const map = (name: string, data: Record<string, string>): ValueMap => {
    return {
      apiVersion: "v1",
      kind: "ConfigMap",
      metadata: { name: `${name}${suffix}`, namespace: "istio-system" },
      data,
    };
  };
  await apply(cluster, map("istio-sidecar-injector", { config: BUILT_IN.config, values }));
  await apply(cluster, map("istio", { mesh: BUILT_IN.mesh }));
}

const PORTS = [{ containerPort: 8080 }];
const PROBE = { httpGet: { path: "/", port: 8080 } };

/** Deployments, and the pods that their controllers would make. */
async function injectedPods(cluster: Cluster): Promise<void> {
  for (const name of ["cart", "web"]) {
    const labels = { app: name };
    const spec = { containers: [{ name: "app", image: "example.com/app:1", ports: PORTS, readinessProbe: PROBE }] };
    await apply(cluster, {
      apiVersion: "apps/v1",
      kind: "Deployment",
      metadata: { name, namespace: "shop" },
      spec: { selector: { matchLabels: labels }, template: { metadata: { labels }, spec } },
    });
    for (const number of [1, 2]) {
      await until(async () => await makePod(cluster, { name, number, spec }), "Never: a sidecar");
    }
  }
}

interface PodParts {
  readonly name: string;
  readonly number: number;
  readonly spec: ValueMap;
}

/** Whether the pod is made with a sidecar: the API server learns of a webhook a little later. */
async function makePod(cluster: Cluster, { name, number, spec }: PodParts): Promise<boolean> {
  const hash = "7d4b9c5f6";
  const owner = {
    apiVersion: "apps/v1",
    kind: "ReplicaSet",
    name: `${name}-${hash}`,
    uid: crypto.randomUUID(),
    controller: true,
  };
  const pod = {
    apiVersion: "v1",
    kind: "Pod",
    metadata: {
      name: `${name}-${hash}-${number}`,
      namespace: "shop",
      generateName: `${name}-${hash}-`,
      labels: { app: name, "pod-template-hash": hash },
      ownerReferences: [owner],
    },
    spec,
  };
  const text = JSON.stringify(pod);
  const dry = await cluster.kubectl(["create", "--dry-run=server", "-o", "json", "-f", "-"], text);
  if (dry.stdout === "" || statusOf(JSON.parse(dry.stdout)) === undefined) return false;
  await create(cluster, [pod]);
  return true;
}

async function upgrade(cluster: Cluster, ...args: readonly string[]) {
  const { code, stdout, stderr } = await new Deno.Command(MESH_COMMAND, {
    args: ["check", "upgrade", `--kubeconfig=${cluster.kubeconfig}`, ...args],
  }).output();
  const [out = "", err = ""] = [stdout, stderr].map((bytes) => new TextDecoder().decode(bytes));
  return { code, stdout: out, stderr: err };
}
