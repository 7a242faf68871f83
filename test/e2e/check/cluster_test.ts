/** `check` with a real API server: a healthy mesh, broken ones, and users with few rights. */
import assert from "node:assert/strict";
import type { CheckResult } from "../../../src/check/result_schema.ts";
import type { Value, ValueMap } from "../../../src/base/value.ts";
import { BUILT_IN } from "../../../src/inject/mod.ts";
import { runMesh, sayMesh } from "../../support/programs/mesh.ts";
import { testWhen } from "../../support/test_when.ts";
import { type Cluster, needsCluster, startCluster } from "../support/cluster/cluster.ts";
import { allowed, created, createNamespace, merged, removed, reported, tried } from "../support/cluster/requests.ts";
import { gatewayCrd } from "./support/gateway_crds.ts";
import { rootCertificateIn } from "./support/mesh_cluster.ts";
import { asUser, check, type Run, withResult } from "./support/results.ts";
import { until } from "../../support/until.ts";
import { apply, kubectl, register, startWebhook, type WebhookProcess } from "../support/webhook.ts";

testWhen(needsCluster(), "check in a real cluster", async (t) => {
  const cluster = await startCluster();
  const webhook = await startWebhook({ config: BUILT_IN.config, values: BUILT_IN.values, mesh: BUILT_IN.mesh });
  let isStopped = false;
  try {
    await t.step("before the mesh: --pre succeeds, check names what is missing", () => beforeMesh(cluster));
    await t.step("who may not install it is warned, if that is known", () => mayInstall(cluster));
    await t.step("a healthy mesh", () => isWell(cluster, webhook));
    for (const [name, breakage] of Object.entries(BREAKAGES)) {
      await t.step(`${name}: reported, and fixed again`, () => reportsAndHeals(cluster, breakage));
    }
    await t.step("pods of the data plane are checked by their status", () => judgesPods(cluster));
    await t.step("missing rights are named, and no check fails", () => isForbidden(cluster));
    await t.step("the roles of --rbac are sufficient", () => hasRights(cluster));
    isStopped = true;
    await t.step("a webhook that is down is reported", () => isDown(cluster, webhook));
  } finally {
    if (!isStopped) await webhook.stop();
    await cluster.stop();
  }
});

async function beforeMesh(cluster: Cluster): Promise<void> {
  const pre = await check(cluster, ["--pre"], { run: runMesh });
  assert.deepEqual([pre.code, withResult(pre, "error")], [0, {}]);
  assert.equal(pre.results.get("api-reachable")?.result, "ok");
  assert.equal(pre.results.get("pod-security")?.result, "ok");
  assert.equal(pre.results.has("proxy-ready"), false);
  const whole = await check(cluster, [], { run: runMesh });
  assert.equal(whole.code, 1);
  assert.match(withResult(whole, "error")["webhook-exists"] ?? "", /^no MutatingWebhookConfiguration injects/);
  assert.equal(whole.results.get("webhook-reachable")?.message, 'it needs "webhook-exists"');
  assert.deepEqual(withResult(whole, "warning"), {});
}

async function mayInstall(cluster: Cluster): Promise<void> {
  const asked = async (user?: string) => {
    const kubeconfig = user === undefined ? cluster.kubeconfig : await asUser(cluster, user);
    const { results } = await check(cluster, ["--pre"], { kubeconfig });
    const { result, message } = results.get("api-install-rights") ?? {};
    return `${result}: ${message}`;
  };
  const reader = "reader-of-webhooks";
  const reading = ["--verb=list", "--resource=mutatingwebhookconfigurations.admissionregistration.k8s.io"];
  await kubectl(cluster, ["create", "clusterrole", reader, ...reading]);
  await kubectl(cluster, ["create", "clusterrolebinding", reader, `--clusterrole=${reader}`, "--user=reader"]);
  const right = { verb: "list", group: "admissionregistration.k8s.io", resource: "mutatingwebhookconfigurations" };
  await until(() => allowed(cluster, { user: "reader" }, right), "Never: the rights are known");
  assert.equal(await asked(), "ok: ");
  assert.match(
    await asked("reader"),
    /^warning: you may not create 14 kinds of 14 .*: namespaces, clusterroles\.rbac\./,
  );
  assert.equal(await asked("joe"), "unknown: cannot tell: needs list on mutatingwebhookconfigurations");
}

async function isWell(cluster: Cluster, webhook: WebhookProcess): Promise<void> {
  for (const name of ["istio-system", "plain"]) await createNamespace(cluster, name);
  await createNamespace(cluster, "mesh", { "istio-injection": "enabled" });
  const map = (name: string, data: Record<string, Value>) =>
    apply(cluster, { apiVersion: "v1", kind: "ConfigMap", metadata: { name, namespace: "istio-system" }, data });
  await apply(cluster, rootCertificateIn("mesh"));
  await map("istio-sidecar-injector", { config: BUILT_IN.config, values: BUILT_IN.values });
  await map("istio", { mesh: BUILT_IN.mesh });
  await register(cluster, webhook);
  const run = await check(cluster, ["--wait", "2m"]);
  assert.deepEqual([run.code, withResult(run, "error")], [0, {}]);
  for (const id of ["webhook-reachable", "pod-security", "resource-quota", "limit-range"]) {
    assert.equal(run.results.get(id)?.result, "ok", id);
  }
}

/** A problem in the namespace `mesh`: the API server rejects pods with a sidecar. */
interface Breakage {
  readonly make: (cluster: Cluster) => Promise<unknown>;
  readonly heal: (cluster: Cluster) => Promise<unknown>;
  readonly id: string;
  readonly message: RegExp;
  /** The API server's answer to a pod. */
  readonly refusal: RegExp;
}

const NAMESPACE = { apiVersion: "v1", kind: "Namespace", metadata: { name: "mesh" } };
const ENFORCE = "pod-security.kubernetes.io/enforce";

function podSecurity(level: string, message: RegExp): Breakage {
  return {
    make: (cluster) => merged(cluster, NAMESPACE, { metadata: { labels: { [ENFORCE]: level } } }),
    heal: (cluster) => merged(cluster, NAMESPACE, { metadata: { labels: { [ENFORCE]: null } } }),
    id: "pod-security",
    message,
    refusal: new RegExp(`violates PodSecurity "${level}:latest".*container "istio-init"`),
  };
}

interface Bound {
  readonly kind: "ResourceQuota" | "LimitRange";
  readonly spec: ValueMap;
  readonly status?: ValueMap;
}

/** There is no controller to fill in the status of quotas. */
function bound({ kind, spec, status }: Bound, expected: Pick<Breakage, "id" | "message" | "refusal">): Breakage {
  const object = { apiVersion: "v1", kind, metadata: { name: "bounds", namespace: "mesh" }, spec };
  return {
    async make(cluster) {
      await apply(cluster, object);
      if (status !== undefined) await reported(cluster, object, status);
    },
    heal: (cluster) => removed(cluster, object),
    ...expected,
  };
}

const BREAKAGES: Readonly<Record<string, Breakage>> = {
  "the level baseline": podSecurity("baseline", /^namespace\/mesh: enforces baseline, and .* NET_ADMIN and NET_RAW$/),
  "the level restricted": podSecurity(
    "restricted",
    /enforces restricted, and .*, may run as root, runs as user 0$/,
  ),
  "an exhausted quota": bound({
    kind: "ResourceQuota",
    spec: { hard: { "requests.cpu": "4" } },
    status: { hard: { "requests.cpu": "4" }, used: { "requests.cpu": "3990m" } },
  }, {
    id: "resource-quota",
    message: /^namespace\/mesh: the quota "bounds" has 10m of requests\.cpu left, but a sidecar needs 100m$/,
    refusal: /exceeded quota: bounds, requested: requests\.cpu=/,
  }),
  "a quota too small for a sidecar": bound({
    kind: "ResourceQuota",
    spec: { hard: { "limits.memory": "512Mi" } },
    status: { hard: { "limits.memory": "512Mi" }, used: { "limits.memory": "0" } },
  }, {
    id: "resource-quota",
    message: /^namespace\/mesh: the quota "bounds" allows limits\.memory of 512Mi, but a sidecar alone needs 1Gi$/,
    refusal: /exceeded quota: bounds, requested: limits\.memory=/,
  }),
  "a limit range with a maximum": bound({
    kind: "LimitRange",
    spec: { limits: [{ type: "Container", max: { memory: "512Mi" } }] },
  }, {
    id: "limit-range",
    message: /allows memory of at most 512Mi: the container "istio-(init|proxy)" needs 1Gi/,
    refusal: /maximum memory usage per Container is 512Mi, but limit is 1Gi/,
  }),
  "a limit range with a ratio": bound({
    kind: "LimitRange",
    spec: { limits: [{ type: "Container", maxLimitRequestRatio: { cpu: "4" } }] },
  }, {
    id: "limit-range",
    message:
      /allows a limit of cpu 4 times the request: the container "istio-(init|proxy)" has the request 100m and the limit 2/,
    refusal: /cpu max limit to request ratio per Container is 4, but provided ratio is 20/,
  }),
};

/** Within all limits without its sidecar. */
const AMOUNT = { cpu: "1m", memory: "1Mi", "ephemeral-storage": "1Mi" };
const RESOURCES = { requests: AMOUNT, limits: AMOUNT };
const POD = {
  apiVersion: "v1",
  kind: "Pod",
  metadata: { name: "cart", namespace: "mesh" },
  spec: {
    automountServiceAccountToken: false,
    containers: [{ name: "app", image: "example.com/app:1", resources: RESOURCES }],
  },
};

async function reportsAndHeals(cluster: Cluster, { make, heal, id, message, refusal }: Breakage): Promise<void> {
  await make(cluster);
  // Admission sees new limits a little later.
  await until(async () => {
    return refusal.test((await tried(cluster, POD)).refusal);
  }, "Never: the API server refuses pods");
  const broken = (await check(cluster, ["--only", id])).results.get(id);
  assert.match(`${broken?.message}`, message);
  assert.match(
    `${broken?.result} ${broken?.hint}`,
    new RegExp(`^(error|warning) see "kubectl mesh check --explain ${id}"$`),
  );
  assert.deepEqual(broken?.objects, ["namespace/mesh"]);
  await isHealed(cluster, broken);
  await heal(cluster);
  assert.equal((await check(cluster, ["--only", id])).results.get(id)?.result, "ok");
}

/** The first command heals it, unless it opens an editor. */
async function isHealed(cluster: Cluster, { id, fixes }: CheckResult): Promise<void> {
  const advice = fixes.flatMap(({ alternatives }) => alternatives.find(({ commands }) => commands.length > 0) ?? []);
  assert(advice.length > 0, `${id} has no command`);
  for (const command of advice.flatMap(({ commands }) => commands)) {
    if (command.startsWith("kubectl edit ")) return;
    assert.equal((await cluster.shell(command)).code, 0, command);
  }
  const { result, message } = (await check(cluster, ["--only", id])).results.get(id) ?? {};
  assert.equal(result, "ok", message);
}

async function judgesPods(cluster: Cluster): Promise<void> {
  await created(cluster, POD);
  const last = { terminated: { exitCode: 137, reason: "OOMKilled" } };
  const proxy = { name: "istio-proxy", image: "x", imageID: "", restartCount: 3 };
  const waiting = { waiting: { reason: "ImagePullBackOff", message: "no such image" } };
  const cases: readonly (readonly [status: ValueMap, expected: string[]])[] = [
    [{ ...proxy, restartCount: 0, ready: true, state: { running: {} } }, []],
    [{ ...proxy, ready: true, state: { running: {} }, lastState: last }, ["warning proxy-memory"]],
    [{ ...proxy, restartCount: 0, ready: false, state: { running: {} } }, ["error proxy-ready"]],
    [{ ...proxy, restartCount: 0, ready: false, state: waiting }, ["error proxy-image"]],
  ];
  for (const [status, expected] of cases) {
    await reported(cluster, POD, { phase: "Running", containerStatuses: [status] });
    const { results } = await check(cluster, ["data-plane"]);
    const bad = [...results.values()].filter(({ result }) => result === "warning" || result === "error");
    assert.deepEqual(bad.map(({ id, result }) => `${result} ${id}`), expected);
    for (const { objects } of bad) assert.deepEqual(objects, ["pod/mesh/cart"]);
  }
  await removed(cluster, POD);
}

async function isForbidden(cluster: Cluster): Promise<void> {
  const run = await check(cluster, [], { kubeconfig: await asUser(cluster, "joe") });
  assert.deepEqual([run.code, withResult(run, "error"), withResult(run, "warning")], [1, {}, {}]);
  const unknown = withResult(run, "unknown");
  for (
    const [id, right] of [
      ["webhook-exists", "list on mutatingwebhookconfigurations"],
      ["pod-security", "list on namespaces"],
      ["resource-quota", "list on resourcequotas"],
      ["native-sidecars", "list on nodes"],
      ["proxy-ready", "list on pods"],
    ] as const
  ) {
    assert.equal(unknown[id], `cannot tell: needs ${right}`);
  }
}

async function hasRights(cluster: Cluster): Promise<void> {
  const { code, stdout } = await sayMesh(["check", "--rbac"]);
  assert.equal(code, 0);
  await kubectl(cluster, ["apply", "-f", "-"], stdout);
  const crd = gatewayCrd("TLSRoute", { bundle: "v1.4.1", versions: ["v1alpha2"] });
  await apply(cluster, crd);
  const seen = async () => (await check(cluster, ["--only", "api-gateway-crds"])).results.get("api-gateway-crds");
  await until(async () => (await seen())?.result === "warning", "Never: the CRD is reported");
  const all = await check(cluster);
  await bind(cluster, "kubectl-mesh-check", ["clusterrole", "role"]);
  const few = await check(cluster, [], { kubeconfig: await asUser(cluster, "jane") });
  const apart = ["api-mutating-admission", "webhook-reachable", "webhook-chain", "pod-admission"];
  assert.equal(
    few.results.get("webhook-reachable")?.message,
    'cannot tell: needs create on pods in the namespace "mesh"',
  );
  const others = (run: Run) => outcomes(run).filter((each) => !apart.some((id) => each.startsWith(`${id} `)));
  assert.deepEqual(others(few), others(all));
  await bind(cluster, "kubectl-mesh-check-dry-run", ["clusterrole"]);
  await bind(cluster, "kubectl-mesh-check-secrets", ["role"]);
  const run = await check(cluster, [], { kubeconfig: await asUser(cluster, "jane") });
  assert.deepEqual(outcomes(run), outcomes(all));
  assert.deepEqual(
    [...run.results.values()].filter(({ message }) => message.includes("needs ") && !/it needs/.test(message)),
    [],
  );
  await removed(cluster, crd);
}

function outcomes({ results }: Run): string[] {
  return [...results.values()].map(({ id, result }) => `${id} ${result}`);
}

/** Binds roles of this name to jane, and waits until the API server applies them. */
async function bind(cluster: Cluster, name: string, kinds: readonly ("clusterrole" | "role")[]): Promise<void> {
  for (const kind of kinds) {
    const where = kind === "role" ? ["-n", "istio-system"] : [];
    await kubectl(cluster, ["create", `${kind}binding`, ...where, name, `--${kind}=${name}`, "--user=jane"]);
  }
  const right = RIGHTS[name] ?? {};
  await until(() => allowed(cluster, { user: "jane" }, right), "Never: the rights are known");
}

/** One of what each role allows. */
const RIGHTS: Readonly<Record<string, ValueMap>> = {
  "kubectl-mesh-check": { verb: "get", resource: "configmaps", namespace: "istio-system" },
  "kubectl-mesh-check-dry-run": { verb: "create", resource: "pods", namespace: "istio-system" },
  "kubectl-mesh-check-secrets": { verb: "get", resource: "secrets", name: "cacerts", namespace: "istio-system" },
};

async function isDown(cluster: Cluster, webhook: WebhookProcess): Promise<void> {
  assert.equal(await webhook.stop(), 0, webhook.log());
  const run = await check(cluster);
  assert.equal(run.code, 1);
  assert.match(run.results.get("webhook-reachable")?.message ?? "", /connection refused/);
}
