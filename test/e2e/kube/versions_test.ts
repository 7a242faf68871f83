/** Real API servers of several versions of Kubernetes, all of them in a long run. */
import assert from "node:assert/strict";
import { VERSION_INFO } from "../../../src/cli/commands/version/version_schema.ts";
import { webhookManifests } from "../../../src/webhook/manifests/mod.ts";
import { isLong } from "../../support/long.ts";
import { KUBERNETES, KUBERNETES_VERSIONS } from "../../support/programs/api_servers.ts";
import { runMesh, sayMesh } from "../../support/programs/mesh.ts";
import { testWhen } from "../../support/test_when.ts";
import { type MeshCluster, podOf, startMesh } from "../check/support/mesh_cluster.ts";
import { check, withResult } from "../check/support/results.ts";
import { needsCluster, startOwnCluster } from "../support/cluster/cluster.ts";
import { createNamespace, got } from "../support/cluster/requests.ts";
import { create, DRY_RUN, statusOf } from "../support/webhook.ts";

const EXAMPLES = ["examples/helloworld.yaml", "examples/bookinfo.yaml"];

type Check = (mesh: MeshCluster, version: string) => Promise<void>;

const CHECKS: Readonly<Record<string, Check>> = {
  "version: the server's version is printed": printsVersion,
  "check: a healthy mesh has no error": isHealthy,
  "check --pre: the cluster is ready": isReady,
  "inject: the pods of the examples pass a strict dry run": (mesh) => passesDryRun(mesh, []),
  "inject --native-sidecars: they pass as well": (mesh) => passesDryRun(mesh, ["--native-sidecars"]),
  "webhook manifests: applied, and again without a change": applies,
  "reviews v1: a pod is injected when it is created": injects,
  "reviews v1: a dry run is injected, and stores nothing": injectsDryRun,
  "reviews v1: a pod that opts out stays as it is": optsOut,
  "check injection: the reason is printed": printsReason,
};

for (const version of isLong() ? KUBERNETES_VERSIONS : [KUBERNETES]) {
  testWhen(needsCluster(), `Kubernetes ${version}: check, webhook and dry runs`, async (t) => {
    const mesh = await startMesh(() => startOwnCluster([], version));
    try {
      for (const [name, run] of Object.entries(CHECKS)) await t.step(name, () => run(mesh, version));
    } finally {
      await mesh.stop();
    }
  });
}

async function printsVersion({ cluster }: MeshCluster, version: string): Promise<void> {
  const { code, stdout, stderr } = await sayMesh(["version", "-o", "json", "--kubeconfig", cluster.kubeconfig]);
  assert.equal(code, 0, stderr);
  const { gitVersion } = await got(cluster, "/version");
  assert.equal(VERSION_INFO.parse(JSON.parse(stdout)).cluster?.kubernetes, gitVersion);
  // The API server of most tests is built without a version.
  if (version !== KUBERNETES) assert.equal(gitVersion, `v${version}`);
}

async function isHealthy({ cluster }: MeshCluster): Promise<void> {
  const run = await check(cluster, ["--wait", "2m"]);
  assert.deepEqual([run.code, withResult(run, "error")], [0, {}]);
  for (const id of ["api-version", "webhook-reachable", "webhook-certificate", "pod-security"]) {
    assert.equal(run.results.get(id)?.result, "ok", id);
  }
}

async function isReady({ cluster }: MeshCluster): Promise<void> {
  const run = await check(cluster, ["--pre"]);
  assert.deepEqual([run.code, withResult(run, "error")], [0, {}]);
}

async function passesDryRun({ cluster }: MeshCluster, flags: readonly string[]): Promise<void> {
  const injected = await runMesh(["inject", ...EXAMPLES.flatMap((file) => ["-f", file]), ...flags]);
  assert.equal(injected.stdout.match(/name: "?istio-proxy"?$/gm)?.length, 8, injected.stderr);
  const applied = await cluster.kubectl(["apply", "--dry-run=server", "--validate=strict", "-f", "-"], injected.stdout);
  assert.equal(applied.code, 0, applied.stderr);
}

async function applies({ cluster }: MeshCluster): Promise<void> {
  await createNamespace(cluster, "other", { "pod-security.kubernetes.io/enforce": "restricted" });
  const image = "example.com/kubectl-mesh:1";
  for (const options of [{}, { tags: ["prod"], maxReplicas: 5, networkPolicy: ["10.0.0.0/28"] }]) {
    const manifests = webhookManifests({ image, revision: "canary", namespace: "other", ...options });
    const apply = () => cluster.kubectl(["apply", "--validate=strict", "-f", "-"], manifests);
    const first = await apply();
    assert.deepEqual([first.code, first.stderr], [0, ""]);
    const { stdout } = await apply();
    assert.deepEqual(stdout.trim().split("\n").filter((line) => !/ unchanged$|^poddisruptionbudget/.test(line)), []);
  }
}

async function injects({ cluster }: MeshCluster): Promise<void> {
  const [made] = await create(cluster, [podOf("web")]);
  assert.ok(made !== undefined && statusOf(made) !== undefined, JSON.stringify(made));
}

async function injectsDryRun({ cluster }: MeshCluster): Promise<void> {
  const [made] = await create(cluster, [podOf("tried")], DRY_RUN);
  assert.ok(made !== undefined && statusOf(made) !== undefined, JSON.stringify(made));
  await assert.rejects(() => got(cluster, "/api/v1/namespaces/mesh/pods/tried"), /not found/);
}

async function optsOut({ cluster }: MeshCluster): Promise<void> {
  const [made] = await create(cluster, [podOf("plain", { labels: { "sidecar.istio.io/inject": "false" } })]);
  assert.ok(made !== undefined && statusOf(made) === undefined, JSON.stringify(made));
}

async function printsReason({ cluster }: MeshCluster): Promise<void> {
  const args = ["check", "injection", "pod/plain", "-n", "mesh", "--kubeconfig", cluster.kubeconfig];
  const { stdout, stderr } = await sayMesh(args);
  assert.match(stdout, /sidecar\.istio\.io\/inject/, stderr);
}
