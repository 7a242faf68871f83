/**
 * `webhook serve` uses every right of its manifests, and lacks none: the API server's audit log records its requests.
 */
import assert from "node:assert/strict";
import { isMap, mapAt, type Value } from "../../../src/base/value.ts";
import { BUILT_IN } from "../../../src/inject/mod.ts";
import { webhookManifests } from "../../../src/webhook/manifests/mod.ts";
import { objectsOf } from "../../support/objects_of.ts";
import { testWhen } from "../../support/test_when.ts";
import { until } from "../../support/until.ts";
import { needsCluster, type OwnCluster, startOwnCluster } from "../support/cluster/cluster.ts";
import { createNamespace } from "../support/cluster/requests.ts";
import { apply, kubectl, PROXY_CONFIGS, startServing } from "../support/webhook.ts";

const OPTIONS = { image: "example.com/kubectl-mesh:1", namespace: "mesh", revision: "next", fromCluster: {} };
const NAME = "kubectl-mesh-webhook-next";
const ACCOUNT = `system:serviceaccount:mesh:${NAME}`;

/** Logs all requests with their users, without bodies. */
const POLICY = {
  apiVersion: "audit.k8s.io/v1",
  kind: "Policy",
  omitStages: ["RequestReceived"],
  rules: [{ level: "Metadata" }],
};

testWhen(needsCluster(), "webhook serve uses each right of its manifests, and needs no other", async () => {
  const folder = await Deno.makeTempDir({ prefix: "mesh-rights-" });
  await Deno.writeTextFile(`${folder}/policy.json`, JSON.stringify(POLICY));
  const cluster = await startOwnCluster([
    `--audit-policy-file=${folder}/policy.json`,
    `--audit-log-path=${folder}/audit.log`,
  ]);
  try {
    const granted = await install(cluster);
    const webhook = await startServing(await servesFrom(cluster));
    try {
      const used = () => requestsIn(`${folder}/audit.log`);
      let unused = [""];
      await until(async () => {
        unused = missing(granted, await used());
        return unused.length === 0;
      }, () => `never used: ${unused.join(", ")}\n${webhook.log()}`);
      assert.deepEqual(missing(await used(), granted), []);
      assert.doesNotMatch(webhook.log(), /forbidden|cannot/i);
    } finally {
      assert.equal(await webhook.stop(), 0, webhook.log());
    }
  } finally {
    await cluster.stop();
    await Deno.remove(folder, { recursive: true });
  }
});

function missing(wanted: ReadonlySet<string>, found: ReadonlySet<string>): string[] {
  return [...wanted].filter((each) => !found.has(each)).sort();
}

/**
 * Applies the manifests and the ConfigMaps that the webhook reads. Returns the rights, one for each verb and object.
 */
async function install(cluster: OwnCluster): Promise<ReadonlySet<string>> {
  await createNamespace(cluster, "mesh");
  await createNamespace(cluster, "istio-system");
  await apply(cluster, PROXY_CONFIGS);
  await until(async () => (await cluster.kubectl(["get", "proxyconfigs", "-A"])).code === 0);
  const data = { "istio-sidecar-injector-next": { config: BUILT_IN.config, values: BUILT_IN.values } };
  for (const [name, map] of Object.entries({ ...data, "istio-next": { mesh: BUILT_IN.mesh } })) {
    await apply(cluster, {
      apiVersion: "v1",
      kind: "ConfigMap",
      metadata: { name, namespace: "istio-system" },
      data: map,
    });
  }
  const manifests = webhookManifests(OPTIONS);
  await kubectl(cluster, ["apply", "-f", "-"], manifests);
  const roles = objectsOf(manifests).filter(({ kind }) => kind === "Role" || kind === "ClusterRole");
  return new Set(roles.flatMap((role) => {
    const { namespace = "" } = mapAt(role, "metadata");
    return texts(role["rules"], (rule) => rule).flatMap((rule) => {
      const names = isMap(rule) && rule["resourceNames"] !== undefined ? list(rule["resourceNames"]) : [""];
      return list(isMap(rule) ? rule["verbs"] : null).flatMap((verb) =>
        list(isMap(rule) ? rule["resources"] : null).flatMap((resource) =>
          names.map((name) => `${verb} ${resource} ${name} in "${namespace}"`)
        )
      );
    });
  }));
}

function texts<T>(value: Value | undefined, each: (item: Value) => T): T[] {
  return Array.isArray(value) ? value.map(each) : [];
}

function list(value: Value | undefined): string[] {
  return texts(value, String);
}

/** The webhook's own flags, with a kubeconfig of its ServiceAccount. */
async function servesFrom(cluster: OwnCluster): Promise<readonly string[]> {
  const token = (await kubectl(cluster, ["create", "token", NAME, "-n", "mesh"])).trim();
  const config = JSON.parse(await Deno.readTextFile(cluster.kubeconfig));
  const kubeconfig = `${cluster.kubeconfig}-webhook`;
  await Deno.writeTextFile(kubeconfig, JSON.stringify({ ...config, users: [{ name: "admin", user: { token } }] }));
  const deployment = objectsOf(webhookManifests(OPTIONS)).find(({ kind }) => kind === "Deployment") ?? {};
  const pod = mapAt(mapAt(mapAt(deployment, "spec"), "template"), "spec");
  const [args = []] = texts(pod["containers"], (container) => list(isMap(container) ? container["args"] : null));
  return [
    ...args.filter((arg) => arg.startsWith("--") && !/^--(plain-)?listen=/.test(arg)),
    `--kubeconfig=${kubeconfig}`,
  ];
}

/** The requests of the ServiceAccount for objects. */
async function requestsIn(log: string): Promise<ReadonlySet<string>> {
  const lines = (await Deno.readTextFile(log).catch(() => "")).split("\n").filter((line) => line.includes(ACCOUNT));
  const requests = lines.map((line) => JSON.parse(line)).filter(({ user, objectRef }) =>
    user.username === ACCOUNT && objectRef !== undefined
  );
  return new Set(
    requests.map(({ verb, objectRef: { resource, name = "", namespace = "" } }) =>
      `${verb} ${resource} ${name} in "${namespace}"`
    ),
  );
}
