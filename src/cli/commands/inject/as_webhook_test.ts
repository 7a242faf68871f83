import assert from "node:assert/strict";
import { fakeWorld } from "../../../../test/support/fake_world.ts";
import { meshWebhooks } from "../../../../test/support/kube/mesh_webhooks.ts";
import { object } from "../../../../test/support/kube/cluster.ts";
import { BUILT_IN, type InjectionSnapshot, snapshotText } from "../../../inject/mod.ts";
import { main } from "../../mod.ts";

const WEB = `apiVersion: apps/v1
kind: Deployment
metadata: {name: web, namespace: shop}
spec:
  template:
    spec: {containers: [{name: app, image: app}]}
`;
const JOB = `apiVersion: batch/v1
kind: Job
metadata: {name: load, namespace: shop}
spec:
  template:
    spec: {restartPolicy: Never, containers: [{name: app, image: app}]}
`;

/** A snapshot of a cluster with one revision, whose namespace "shop" is injected. */
function snapshot(options: Partial<InjectionSnapshot> = {}): string {
  return snapshotText({
    controlPlane: { istioNamespace: "istio-system" },
    objects: [
      object("v1", "ConfigMap", "istio-system/kubectl-mesh-webhook", {
        data: { config: BUILT_IN.config, values: BUILT_IN.values, mesh: BUILT_IN.mesh },
      }),
      ...meshWebhooks(),
      object("v1", "Namespace", "shop", { metadata: { labels: { "istio-injection": "enabled" } } }),
    ],
    namespaces: [],
    kubeletVersions: ["v1.34.0"],
    unreadable: [],
    withheld: [],
    ...options,
  });
}

interface Case {
  readonly nodes?: "unreadable";
  readonly flag?: string;
  readonly variable?: string;
  readonly kubelet?: string;
}

function worldOf(args: readonly string[], { flag, variable, kubelet = "v1.34.0", nodes }: Case) {
  const cluster = nodes === undefined
    ? { kubeletVersions: [kubelet] }
    : { kubeletVersions: undefined, unreadable: [{ resource: "nodes", needs: "list on nodes" }] };
  return fakeWorld({
    args: [...args, "--inject-config", "cluster.yaml", ...flag === undefined ? [] : [`--native-sidecars=${flag}`]],
    env: variable === undefined ? {} : { ENABLE_NATIVE_SIDECARS: variable },
    files: { "web.yaml": WEB, "job.yaml": JOB, "cluster.yaml": snapshot(cluster) },
  });
}

/** Whether `inject --as-webhook` gives a native sidecar to a Deployment, and to a Job. */
async function isNative(given: Case): Promise<readonly boolean[]> {
  const native: boolean[] = [];
  for (const file of ["web.yaml", "job.yaml"]) {
    const world = worldOf(["inject", "-f", file, "--as-webhook"], given);
    assert.equal(await main(world), 0, world.said.stderr);
    assert.match(world.said.stdout, /istio-proxy/);
    native.push(world.said.stdout.includes("restartPolicy: Always"));
  }
  return native;
}

const OLD = "v1.30.0";

const CASES: readonly (readonly [Case, web: boolean, job: boolean])[] = [
  [{}, true, true],
  [{ kubelet: OLD }, false, false],
  [{ flag: "false" }, false, false],
  [{ flag: "false", variable: "true" }, false, false],
  [{ flag: "jobs" }, false, true],
  [{ flag: "jobs", variable: "true" }, false, true],
  [{ flag: "jobs", kubelet: OLD }, false, true],
  [{ flag: "true", kubelet: OLD }, true, true],
  [{ flag: "auto", variable: "false" }, true, true],
  [{ variable: "false" }, false, false],
  [{ variable: "true", kubelet: OLD }, true, true],
];

for (const [given, web, job] of CASES) {
  Deno.test(`inject --as-webhook, native sidecars: ${JSON.stringify(given)}`, async () => {
    assert.deepEqual(await isNative(given), [web, job]);
  });

  Deno.test(`inject --as-webhook and check injection -f find the same in a Job: ${JSON.stringify(given)}`, async () => {
    const world = worldOf(["check", "injection", "-f", "job.yaml", "-o", "json", "--fail-on", "warning"], given);
    const inject = worldOf(["inject", "-f", "job.yaml", "--as-webhook", "--fail-on", "warning"], given);
    assert.deepEqual([await main(world), await main(inject)], job ? [0, 0] : [1, 1]);
    const { verdict, findings = [] } = JSON.parse(world.said.stdout);
    assert.equal(verdict, "injected");
    assert.deepEqual(findings.map(({ rule }: { rule: string }) => rule), job ? [] : ["job-sidecar"]);
    assert.equal(inject.said.stderr.includes("[job-sidecar]"), !job);
  });
}

Deno.test("if the nodes are unknown, neither inject --as-webhook nor check injection -f has a verdict, unless the user decides", async () => {
  const both = async (given: Case) => {
    const check = worldOf(["check", "injection", "-f", "job.yaml", "-o", "json"], given);
    const inject = worldOf(["inject", "-f", "job.yaml", "--as-webhook", "--report", "json"], given);
    const codes = [await main(check), await main(inject)];
    return { codes, check: JSON.parse(check.said.stdout), inject: JSON.parse(inject.said.stderr.split("\n")[0] ?? "") };
  };
  const unknown = await both({ nodes: "unreadable" });
  assert.deepEqual(unknown.codes, [1, 1]);
  assert.deepEqual([unknown.check.verdict, unknown.check.reason], ["cannot-tell", "native-unknown"]);
  assert.deepEqual([unknown.inject.result, unknown.inject.reason], ["failed", "native-unknown"]);
  for (const { message } of [unknown.check, unknown.inject]) {
    assert.match(message, /the nodes decide whether the sidecar is native: .*list on nodes; --native-sidecars decides/);
  }
  const decided = await both({ nodes: "unreadable", flag: "jobs" });
  assert.deepEqual(decided.codes, [0, 0]);
});

/** The verdicts of `check injection -f` and `inject --as-webhook` about a manifest, and their messages. */
async function verdicts(manifest: string, cluster: Partial<InjectionSnapshot>, ...more: readonly string[]) {
  const files = { "web.yaml": manifest, "cluster.yaml": snapshot(cluster) };
  const from = ["-f", "web.yaml", "--inject-config", "cluster.yaml", ...more];
  const check = fakeWorld({ args: ["check", "injection", ...from, "-o", "json"], files });
  const inject = fakeWorld({ args: ["inject", ...from, "--as-webhook", "--report", "json"], files });
  const codes = [await main(check), await main(inject)];
  const found = JSON.parse(check.said.stdout.split("\n")[0] ?? "");
  const entries = inject.said.stderr.split("\n").filter((line) => line.startsWith("{")).map((line) => JSON.parse(line));
  const entry = entries.find(({ kind }) => kind === "Deployment");
  return { codes, found, entry };
}

const FRESH = `apiVersion: v1
kind: Namespace
metadata: {name: fresh, labels: {istio-injection: enabled}}
---
${WEB.replace("namespace: shop", "namespace: fresh")}`;

Deno.test("neither inject --as-webhook nor check injection -f judges a namespace that the snapshot lacks; both say what to do", async () => {
  const all =
    'the snapshot "cluster.yaml" has no namespace "fresh"; create the namespace and take the snapshot again, ' +
    'or add the Namespace to its "objects"; a Namespace among the manifests does not count';
  const some = 'the snapshot "cluster.yaml" has no namespace "fresh"; take it again with "-n pay,shop,fresh"; ' +
    "a Namespace among the manifests does not count";
  for (const [namespaces, why] of [[[], all], [["shop", "pay"], some]] as const) {
    const { codes, found, entry } = await verdicts(FRESH, { namespaces });
    assert.deepEqual(codes, [1, 1]);
    assert.deepEqual([found.verdict, found.reason, found.fix], ["cannot-tell", "namespace-unknown", []]);
    assert.deepEqual([entry.result, entry.reason], ["failed", "namespace-unknown"]);
    assert.equal(found.message, `cannot tell which webhooks are called: ${why}`);
    assert.equal(entry.message, `Cannot tell which webhooks are called: ${why}`);
  }
});

Deno.test("inject --as-webhook and check injection -f agree about a manifest without a namespace, and with a misspelt one", async () => {
  const unnamed = WEB.replace(", namespace: shop", "");
  const { codes, found, entry } = await verdicts(unnamed, {});
  assert.deepEqual(codes, [1, 1]);
  assert.deepEqual([found.verdict, found.reason, entry.reason], [
    "cannot-tell",
    "namespace-unknown",
    "namespace-unknown",
  ]);
  assert.match(found.message, /does not name a namespace; name it with --namespace$/);
  assert.deepEqual((await verdicts(unnamed, {}, "-n", "shop")).codes, [0, 0]);
  const misspelt = await verdicts(WEB.replace("namespace: shop", "Namespace: shop"), {});
  assert.deepEqual([misspelt.found.verdict, misspelt.entry.result], ["injected", "injected"]);
});

Deno.test("inject --as-webhook reports an invalid ENABLE_NATIVE_SIDECARS", async () => {
  const world = worldOf(["inject", "-f", "web.yaml", "--as-webhook"], { variable: "maybe" });
  assert.equal(await main(world), 0);
  assert.match(world.said.stderr, /note: ENABLE_NATIVE_SIDECARS is "maybe", but must be/);
});
