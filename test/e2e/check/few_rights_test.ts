/** An administrator, and a person who may do everything in one namespace and nothing elsewhere, on a real API server. */
import assert from "node:assert/strict";
import { EXPLANATION } from "../../../src/check/injection/explanation_schema.ts";
import { runMesh } from "../../support/programs/mesh.ts";
import { testWhen } from "../../support/test_when.ts";
import { type Cluster, needsCluster } from "../support/cluster/cluster.ts";
import { createNamespace, removed } from "../support/cluster/requests.ts";
import { CONFIGURATION, type MeshCluster, objectNamed, rootCertificateIn, startMesh } from "./support/mesh_cluster.ts";
import { asUser, check } from "./support/results.ts";

const RBAC = "rbac.authorization.k8s.io";
const LABELS = { app: "web" };
const CONTAINERS = [{ name: "app", image: "example.com/app:1" }];
const WEB = {
  apiVersion: "apps/v1",
  kind: "Deployment",
  metadata: { name: "web", namespace: "shop" },
  spec: {
    selector: { matchLabels: LABELS },
    template: { metadata: { labels: LABELS }, spec: { containers: CONTAINERS } },
  },
};

/** The namespace shop, and the kubeconfig of the person who may do everything there. */
async function ownerOfShop({ cluster, apply }: MeshCluster): Promise<string> {
  await createNamespace(cluster, "shop", { "istio-injection": "enabled" });
  const metadata = { name: "owner", namespace: "shop" };
  const rules = [{ apiGroups: ["*"], resources: ["*"], verbs: ["*"] }];
  await apply({ apiVersion: `${RBAC}/v1`, kind: "Role", metadata, rules });
  const subjects = [{ apiGroup: RBAC, kind: "User", name: "owner" }];
  await apply({
    apiVersion: `${RBAC}/v1`,
    kind: "RoleBinding",
    metadata,
    roleRef: { apiGroup: RBAC, kind: "Role", name: "owner" },
    subjects,
  });
  await apply(WEB);
  return await asUser(cluster, "owner");
}

/** The verdict about deployment/web. */
async function verdict(kubeconfig: string) {
  const args = ["check", "injection", "deployment/web", "-n", "shop", "-o", "json", "--kubeconfig", kubeconfig];
  const { stdout } = await runMesh(args);
  const { verdict, by, field } = EXPLANATION.parse(JSON.parse(stdout));
  return [verdict, by, field];
}

const WEBHOOK = `${CONFIGURATION}/namespace.sidecar-injector.istio.io`;
const LABEL = 'namespace.metadata.labels["istio-injection"]';
const MANIFEST = JSON.stringify(WEB);

async function written(cluster: Cluster, args: readonly string[], stdin?: string) {
  return await runMesh([...args, "--kubeconfig", cluster.kubeconfig], stdin === undefined ? {} : { stdin });
}

/** What the owner of the namespace gets, and the administrator for comparison. */
async function readWithFewRights(t: Deno.TestContext, { cluster, kubectl }: MeshCluster, owner: string): Promise<void> {
  await t.step("the owner of a namespace gets one line for each missing right, and what needs none", async () => {
    const { code, stdout } = await runMesh(["check", "-n", "shop", "--kubeconfig", owner]);
    assert.equal(code, 1);
    const hidden = stdout.split("\n").filter((line) => line.startsWith("? "));
    assert.equal(hidden.length, 3, stdout);
    assert.match(stdout, /\nnot checked\n-+\n\? \d\d checks need the right "list mutatingwebhookconfigurations"\n/);
    const { results } = await check(cluster, ["-n", "shop"], { kubeconfig: owner, run: runMesh });
    const well = [
      "workload-jobs",
      "workload-ports",
      "workload-proxy-user",
      "resource-quota",
      "limit-range",
      "pod-security",
    ];
    for (const id of [...well, "api-mutating-admission"]) assert.equal(results.get(id)?.result, "ok", id);
  });

  await t.step("check injection: a dry run is the verdict of who may not read webhooks", async () => {
    assert.deepEqual(await verdict(cluster.kubeconfig), ["injected", WEBHOOK, "policy"]);
    assert.deepEqual(await verdict(owner), ["injected", "dry-run", LABEL]);
    await kubectl("label", "namespace", "shop", "istio-injection-");
    assert.deepEqual((await verdict(cluster.kubeconfig))[0], "not-injected");
    assert.deepEqual(await verdict(owner), ["not-injected", null, "namespace.metadata.labels"]);
    await kubectl("label", "namespace", "shop", "istio-injection=enabled");
  });
}

/** What is written: manifests, a snapshot, and what --fix changes. */
async function writeWithFewRights(
  t: Deno.TestContext,
  { cluster, kubectl }: MeshCluster,
  owner: string,
): Promise<void> {
  await t.step("inject and config snapshot find the ConfigMap of this program's webhook", async () => {
    const injected = await written(cluster, ["inject", "-f", "-", "--from-cluster"], MANIFEST);
    assert.deepEqual([injected.code, /istio-proxy/.test(injected.stdout)], [0, true], injected.stderr);
    const snapshot = await written(cluster, ["config", "snapshot"]);
    assert.equal(snapshot.code, 0, snapshot.stderr);
    const file = await Deno.makeTempFile({ suffix: ".yaml" });
    await Deno.writeTextFile(file, snapshot.stdout);
    const offline = await runMesh(["inject", "-f", "-", "--inject-config", file], { stdin: MANIFEST });
    assert.deepEqual([offline.code, offline.stdout], [0, injected.stdout], offline.stderr);
    const empty = await runMesh(["config", "snapshot", "-n", "shop", "--kubeconfig", owner]);
    assert.deepEqual([empty.code, empty.stdout], [1, ""]);
    assert.match(empty.stderr, /^error: No part of the injection configuration can be read; missing rights: /);
    await Deno.remove(file);
  });

  await t.step("--fix asks, or runs with --yes what is harmless and allowed, and checks again", async () => {
    const args = ["check", "namespaces", "-n", "shop", "-o", "short", "--fix"];
    assert.equal((await written(cluster, args)).code, 2);
    const { code, stdout, stderr } = await written(cluster, [...args, "--yes"]);
    assert.equal(code, 0, `${stdout}${stderr}`);
    assert.match(stderr, /configmap\/istio-ca-root-cert created\n\n1 of 1 repairs succeeded; checking again\n$/);
    await kubectl("label", "namespace", "shop", "istio.io/rev=other");
    const own = await runMesh([...args, "--yes", "--kubeconfig", owner]);
    // Without the right to read webhooks the risk is not known; the right to change the own namespace is.
    assert.match(
      own.stderr,
      /remove istio\.io\/rev\n {2}risk: .*\n.*\n {2}not run: --yes does not run risky repairs/,
    );
    assert.equal(
      own.stdout.match(/Status check results/g)?.length,
      1,
      "without a repair, the results are printed once",
    );
    await kubectl("label", "namespace", "shop", "istio.io/rev-");
  });
}

/** How the report follows the cluster. */
async function followCluster(t: Deno.TestContext, mesh: MeshCluster): Promise<void> {
  const { cluster } = mesh;
  await t.step("--watch ends when all is well, or after its time", async () => {
    await removed(cluster, rootCertificateIn("shop"));
    const args = ["check", "namespaces", "-n", "shop", "-o", "short", "--watch", "--timeout"];
    assert.equal((await written(cluster, [...args, "1s"])).code, 1);
    const watched = written(cluster, [...args, "10m"]);
    await mesh.apply(rootCertificateIn("shop"));
    const { code, stdout } = await watched;
    assert.equal(code, 0, stdout);
    assert.match(stdout, /Status check results are √: /);
  });

  await t.step(
    "without the webhook the first line is that, and the advice keeps the port that is there",
    async () => {
      await removed(cluster, objectNamed("MutatingWebhookConfiguration", CONFIGURATION));
      const { code, stdout } = await written(cluster, ["check", "-n", "shop", "-o", "short"]);
      assert.equal(code, 1);
      assert.match(stdout, /^webhook\n-+\n× an injection webhook is configured\n/);
      assert.doesNotMatch(stdout, /control plane ConfigMaps exist/);
      const { results } = await check(cluster, ["--only", "webhook-exists"], { run: runMesh });
      const [again] = results.get("webhook-exists")?.fixes[0]?.alternatives ?? [];
      const named = again?.commands.join() ?? "";
      assert(named.includes(`--service-port=${mesh.webhook.port} --only MutatingWebhookConfiguration`), named);
    },
  );
}

testWhen(needsCluster(), "check is useful with few rights, and heals with all of them", async (t) => {
  const mesh = await startMesh();
  try {
    const owner = await ownerOfShop(mesh);
    await readWithFewRights(t, mesh, owner);
    await writeWithFewRights(t, mesh, owner);
    await followCluster(t, mesh);
  } finally {
    await mesh.stop();
  }
});
