/** `inject --as-webhook`, `config snapshot` and `config diff` against a real API server with two revisions and a tag. */
import assert from "node:assert/strict";
import { partsOf } from "../../../src/check/upgrade/parts.ts";
import { isMap, type Value, type ValueMap } from "../../../src/base/value.ts";
import { parseDocument, splitText } from "../../../src/yaml/mod.ts";
import { BUILT_IN } from "../../../src/inject/mod.ts";
import { runMesh } from "../../support/programs/mesh.ts";
import { temporaryFolder } from "../../support/temporary_folder.ts";
import { testWhen } from "../../support/test_when.ts";
import { until } from "../../support/until.ts";
import { type Cluster, needsCluster, startCluster } from "../support/cluster/cluster.ts";
import {
  apply,
  create,
  kubectl,
  register,
  startWebhook,
  statusOf,
  triedStatus,
  type WebhookProcess,
} from "../support/webhook.ts";
import { createNamespace } from "../support/cluster/requests.ts";
import { setKubelet } from "../check/support/mesh_cluster.ts";

/** The labels of each namespace. */
const NAMESPACES: Readonly<Record<string, Record<string, string>>> = {
  bare: {},
  on: { "istio-injection": "enabled" },
  off: { "istio-injection": "disabled" },
  misspelt: { "istio-injection": "enable" },
  canary: { "istio.io/rev": "canary" },
  tagged: { "istio.io/rev": "prod" },
  nobody: { "istio.io/rev": "nobody" },
};

/** Pods of every namespace: what they ask for. */
const PODS: readonly { readonly labels?: Record<string, string>; readonly spec?: ValueMap }[] = [
  {},
  { labels: { "sidecar.istio.io/inject": "true" } },
  { labels: { "sidecar.istio.io/inject": "false" } },
  { labels: { "istio.io/rev": "canary" } },
  { spec: { hostNetwork: true } },
];

const MANIFESTS = Object.keys(NAMESPACES).flatMap((namespace) =>
  PODS.map(({ labels = {}, spec = {} }, index): ValueMap => ({
    apiVersion: "v1",
    kind: "Pod",
    metadata: { name: `pod-${index}`, namespace, labels },
    spec: { containers: [{ name: "app", image: "example.com/app:1" }], ...spec },
  }))
);

const TEXT = MANIFESTS.map((manifest) => JSON.stringify(manifest)).join("\n---\n");

const VALUES: Readonly<Record<string, string>> = {
  default: BUILT_IN.values,
  canary: BUILT_IN.values.replace(/^( *)tag: .*$/m, "$1tag: 9.9.9-canary"),
};

const NODE = { apiVersion: "v1", kind: "Node", metadata: { name: "node-1" } };

/** A user that may read the webhooks and the ConfigMaps of the control plane, and no namespace. */
const SOME_RIGHTS: readonly ValueMap[] = [
  role("ClusterRole", [{
    apiGroups: ["admissionregistration.k8s.io"],
    resources: ["mutatingwebhookconfigurations"],
    verbs: ["list"],
  }]),
  binding("ClusterRole"),
  role("Role", [{ apiGroups: [""], resources: ["configmaps"], verbs: ["get", "list"] }], "istio-system"),
  binding("Role", "istio-system"),
];

function role(kind: string, rules: Value[], namespace?: string): ValueMap {
  return { apiVersion: "rbac.authorization.k8s.io/v1", kind, metadata: metadataOf(namespace), rules };
}

function binding(kind: string, namespace?: string): ValueMap {
  return {
    apiVersion: "rbac.authorization.k8s.io/v1",
    kind: `${kind}Binding`,
    metadata: metadataOf(namespace),
    roleRef: { apiGroup: "rbac.authorization.k8s.io", kind, name: "some" },
    subjects: [{ kind: "User", name: "some", apiGroup: "rbac.authorization.k8s.io" }],
  };
}

function metadataOf(namespace: string | undefined): ValueMap {
  return { name: "some", ...namespace === undefined ? {} : { namespace } };
}

testWhen(needsCluster(), "sources of injection in a cluster with two revisions and a tag", async (t) => {
  const cluster = await startCluster();
  const webhooks: WebhookProcess[] = [];
  await using folder = await temporaryFolder();
  const scene: Scene = { cluster, folder: folder.path };
  try {
    await prepare(cluster, webhooks);
    await t.step("--as-webhook makes the pods that the API server makes", () => asTheServer(scene));
    await t.step("a snapshot gives the same as the cluster, with and without --as-webhook", () => asTheCluster(scene));
    await t.step("some rights: what is unknown is not injected", () => someRights(scene));
    await t.step("no rights: no snapshot, nothing injected", () => noRights(scene));
    await t.step("--native-sidecars=auto: as the nodes can", () => asTheNodes(scene));
    await t.step("config diff shows what a revision changes", () => differences(scene));
  } finally {
    for (const webhook of webhooks) await webhook.stop();
    await cluster.stop();
  }
});

interface Scene {
  readonly cluster: Cluster;
  readonly folder: string;
}

async function prepare(cluster: Cluster, webhooks: WebhookProcess[]): Promise<void> {
  await apply(cluster, { apiVersion: "v1", kind: "Namespace", metadata: { name: "istio-system" } });
  for (const [name, labels] of Object.entries(NAMESPACES)) {
    await createNamespace(cluster, name, labels);
  }
  for (const object of SOME_RIGHTS) await apply(cluster, object);
  for (const [revision, values] of Object.entries(VALUES)) {
    const webhook = await startWebhook({ revision, config: BUILT_IN.config, values, mesh: BUILT_IN.mesh });
    webhooks.push(webhook);
    const tags = revision === "canary" ? ["prod"] : [];
    await register(cluster, { revision, tags, port: webhook.port, authority: webhook.authority });
    const suffix = revision === "default" ? "" : `-${revision}`;
    await apply(cluster, configMap(`istio-sidecar-injector${suffix}`, { config: BUILT_IN.config, values }));
    await apply(cluster, configMap(`istio${suffix}`, { mesh: BUILT_IN.mesh }));
  }
  for (const [namespace, revision] of [["on", "default"], ["canary", "canary"], ["tagged", "canary"]] as const) {
    await until(async () => {
      const pod = { ...MANIFESTS[0], metadata: { name: "probe", namespace } };
      return (await triedStatus(cluster, pod))?.["revision"] === revision;
    }, `Never: the webhook of "${namespace}" is called`);
  }
}

function configMap(name: string, data: Record<string, Value>): ValueMap {
  return { apiVersion: "v1", kind: "ConfigMap", metadata: { name, namespace: "istio-system" }, data };
}

async function mesh({ cluster }: Scene, ...args: readonly string[]) {
  return await runMesh([...args, "--kubeconfig", cluster.kubeconfig], { stdin: TEXT });
}

async function offline(...args: readonly string[]) {
  return await runMesh(args, { stdin: TEXT });
}

const AS_WEBHOOK = ["inject", "-f", "-", "--from-cluster", "--as-webhook"];

interface Line {
  readonly reason: string;
  readonly result: string;
  readonly revision?: string;
}

function lines(stderr: string): readonly Line[] {
  return stderr.split("\n").filter((line) => line.startsWith("{")).map((line) => JSON.parse(line));
}

async function asTheServer(scene: Scene): Promise<void> {
  const { code, stdout, stderr } = await mesh(scene, ...AS_WEBHOOK, "--report=json");
  assert.equal(code, 0, stderr);
  const made = splitText(stdout, "").map((document) => parseDocument(document).value).filter(isMap);
  const created = await create(scene.cluster, MANIFESTS);
  assert.equal(made.length, MANIFESTS.length);
  const revisions = created.map((pod) => statusOf(pod)?.["revision"]);
  assert.deepEqual(made.map((pod) => statusOf(pod)?.["revision"]), revisions);
  assert.deepEqual(lines(stderr).map(({ revision }) => revision), revisions);
  assert.deepEqual(new Set(revisions), new Set(["default", "canary", undefined]));
  for (const [index, pod] of created.entries()) assert.deepEqual(partsOf(made[index] ?? {}), partsOf(pod));
  const reasons = new Set(lines(stderr).map(({ reason }) => reason));
  for (
    const reason of [
      "namespace-not-labelled",
      "namespace-disabled",
      "namespace-label-misspelt",
      "revision-not-served",
      "label-inject-false",
      "pod-host-network",
      "policy-enabled",
    ]
  ) assert.ok(reasons.has(reason), `${reason} is not in ${[...reasons]}`);
  await kubectl(scene.cluster, ["delete", "pods", "--all", "-A", "--wait=false", "--grace-period=0", "--force"]);
}

async function asTheCluster(scene: Scene): Promise<void> {
  const file = `${scene.folder}/cluster.yaml`;
  const saved = await mesh(scene, "config", "snapshot", "-o", file);
  assert.deepEqual(saved, { code: 0, stdout: "", stderr: "" });
  assert.equal((await mesh(scene, "config", "snapshot")).stdout, await Deno.readTextFile(file));
  for (const revision of ["default", "canary", "prod"]) {
    const online = await mesh(scene, "inject", "-f", "-", "--from-cluster", "--revision", revision, "--report=json");
    const from = ["inject", "-f", "-", "--inject-config", file, "--revision", revision];
    assert.deepEqual(await offline(...from, "--report=json"), online);
    assert.equal(online.stdout.includes("9.9.9-canary"), revision !== "default");
  }
  const decided = await offline("inject", "-f", "-", "--inject-config", file, "--as-webhook", "--report=json");
  assert.deepEqual(decided, await mesh(scene, ...AS_WEBHOOK, "--report=json"));
}

/** All nodes must have Kubernetes 1.33, where native sidecars are stable; the pods of an older one would never end. */
async function asTheNodes(scene: Scene): Promise<void> {
  const isNative = async (version: string) => {
    await setKubelet(scene, version, NODE);
    const { stdout, stderr } = await mesh(scene, ...AS_WEBHOOK.slice(0, -1), "--native-sidecars=auto");
    assert.match(stdout, /istio-proxy/, stderr);
    return stdout.includes('"restartPolicy":"Always"') || stdout.includes("restartPolicy: Always");
  };
  await apply(scene.cluster, NODE);
  assert.deepEqual([await isNative("v1.34.0"), await isNative("v1.28.9")], [true, false]);
}

async function someRights(scene: Scene): Promise<void> {
  const online = await mesh(scene, ...AS_WEBHOOK, "--report=json", "--as", "some");
  assert.deepEqual([online.code, online.stdout], [1, ""]);
  for (const { result, reason } of lines(online.stderr)) {
    assert.ok(
      result === "failed" ? reason === "namespace-unknown" : result === "skipped",
      `${result} because of ${reason}`,
    );
  }
  assert.match(online.stderr, /needs get on namespaces/);
  const file = `${scene.folder}/some.yaml`;
  const saved = await mesh(scene, "config", "snapshot", "-o", file, "--as", "some");
  assert.deepEqual(saved, {
    code: 1,
    stdout: "",
    stderr: "error: The snapshot is incomplete: it needs list on namespaces, list on nodes\n" +
      '  hint: "kubectl mesh check --rbac" prints the needed rights\n',
  });
  const decided = await offline("inject", "-f", "-", "--inject-config", file, "--as-webhook", "--report=json");
  assert.deepEqual(decided, online);
}

async function noRights(scene: Scene): Promise<void> {
  const file = `${scene.folder}/none.yaml`;
  const saved = await mesh(scene, "config", "snapshot", "-o", file, "--as", "none");
  assert.equal(saved.code, 1);
  assert.match(
    saved.stderr,
    /^error: No part of the injection configuration can be read; missing rights: .*list on mutatingwebhookconfigurations, /,
  );
  await assert.rejects(Deno.stat(file));
  const { code, stdout, stderr } = await mesh(scene, ...AS_WEBHOOK, "--report=json", "--as", "none");
  assert.deepEqual([code, stdout], [1, ""]);
  assert.deepEqual(new Set(lines(stderr).map(({ result }) => result)), new Set(["failed", "skipped"]));
  assert.match(stderr, /needs list on mutatingwebhookconfigurations/);
}

async function differences(scene: Scene): Promise<void> {
  const live = await mesh(scene, "config", "diff", "rev:default", "rev:prod");
  assert.equal(live.code, 1, live.stderr);
  assert.match(live.stdout, /^\+ +image: .*:9\.9\.9-canary$/m);
  assert.equal((await mesh(scene, "config", "diff", "rev:canary", "rev:prod")).code, 0);
  const file = `${scene.folder}/cluster.yaml`;
  const saved = await mesh(scene, "config", "diff", `${file}@default`, "rev:canary");
  const hunks = (text: string) => text.split("\n").filter((line) => !/^(---|\+\+\+) /.test(line));
  assert.deepEqual(hunks(saved.stdout), hunks(live.stdout));
  assert.equal((await offline("config", "diff", file, file)).code, 0);
  assert.equal((await mesh(scene, "config", "diff", `${file}@default`, "rev:default")).code, 0);
  await kubectl(scene.cluster, ["label", "namespace", "on", "istio-injection-"]);
  const unlabelled = await mesh(scene, "config", "diff", `${file}@default`, "rev:default");
  assert.equal(unlabelled.code, 1, unlabelled.stderr);
  assert.match(unlabelled.stdout, /^# namespace\/on\n(.*\n)+-injected by revision "default"\n\+not injected\n$/);
}
