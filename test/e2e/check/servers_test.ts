/**
 * `check` with slow, old and dead API servers, and with flags that disable webhooks. Other tests of an API server's end and of its flags
 * are steps of this one: a start takes two seconds of a processor.
 */
import assert from "node:assert/strict";
import { runMesh } from "../../support/programs/mesh.ts";
import { testWhen } from "../../support/test_when.ts";
import { needsCluster, type OwnCluster as Cluster, startOwnCluster } from "../support/cluster/cluster.ts";
import { type Between, startBetween } from "./support/between.ts";
import { check, type Results, resultsOf, withResult } from "./support/results.ts";
import { addServiceAccount, created, removed } from "../support/cluster/requests.ts";
import { runs, startPod } from "../kube/support/exec.ts";
import { startWatch } from "../kube/support/watched.ts";

testWhen(needsCluster(), "check of unusual API servers", async (t) => {
  const cluster = await startOwnCluster(WITHOUT_WEBHOOKS.flags);
  try {
    await t.step("a slow one is no problem", () => isSlow(cluster));
    await t.step("one that is too old, and one without the API of webhooks", () => isOld(cluster));
    await t.step("one whose clock is wrong", () => hasAnotherTime(cluster));
    await t.step("one with invalid answers", () => isNone(cluster));
    await t.step("one without the plugins that call webhooks", () => reportsFlags(cluster, WITHOUT_WEBHOOKS));
    const watched = await startWatch(cluster);
    try {
      await t.step("one that dies in the middle", () => goesAway(cluster));
      const flags = [...WITH_WEBHOOKS.flags, WITHOUT_TRANSLATION];
      await t.step("--wait waits for one that comes back", () => comesBack(cluster, flags));
      await t.step("a watch outlives it", () => watched.outlives());
    } finally {
      await watched.stop();
    }
    await t.step("one with these plugins and aggregator routing", () => reportsFlags(cluster, WITH_WEBHOOKS));
    await t.step("one that is too old for commands in containers of version 5", () => runsCommands(cluster));
  } finally {
    await cluster.stop();
  }
});

async function through<T>(cluster: Cluster, between: Between, use: (kubeconfig: string) => Promise<T>): Promise<T> {
  const proxy = await startBetween(cluster, between);
  try {
    return await use(proxy.kubeconfig);
  } finally {
    await proxy.close();
  }
}

function outcomes(results: Results): Record<string, string> {
  return Object.fromEntries([...results.values()].map(({ id, result }) => [id, result]));
}

async function isSlow(cluster: Cluster): Promise<void> {
  const straight = await resultsOf(cluster.kubeconfig);
  const slow = await through(cluster, { delay: 700 }, (kubeconfig) => check(cluster, [], { kubeconfig }));
  assert.deepEqual(outcomes(slow.results), outcomes(straight));
}

async function isOld(cluster: Cluster): Promise<void> {
  const answer = (path: string, value: object): Between => ({
    before: (request) => new URL(request.url).pathname === path ? Response.json(value) : undefined,
  });
  const old = answer("/version", { gitVersion: "v1.15.12", major: "1", minor: "15" });
  const version = (await through(cluster, old, resultsOf)).get("api-version");
  assert.equal(version?.result, "error");
  assert.match(version?.message ?? "", /^the server is v1\.15\.12, the oldest supported version is 1\.16/);
  const lacking = await through(cluster, answer("/apis", { kind: "APIGroupList", groups: [] }), resultsOf);
  assert.equal(lacking.get("api-admission-registration")?.result, "error");
  assert.equal(lacking.get("webhook-exists")?.message, 'it needs "api-admission-registration"');
  assert.equal(lacking.get("pod-security")?.result, "ok");
}

async function hasAnotherTime(cluster: Cluster): Promise<void> {
  const late = new Date(Date.now() - 600_000).toUTCString();
  const after = (response: Response) => {
    const headers = new Headers(response.headers);
    headers.set("date", late);
    return new Response(response.body, { status: response.status, headers });
  };
  const found = (await through(cluster, { after }, resultsOf)).get("clock-skew");
  assert.equal(found?.result, "warning");
  assert.match(found?.message ?? "", /^the API server is (59|60)\d s behind this machine/);
}

async function isNone(cluster: Cluster): Promise<void> {
  const page = { before: () => new Response("<html>sign in</html>") };
  const { code, results } = await through(cluster, page, (kubeconfig) => check(cluster, [], { kubeconfig }));
  assert.equal(code, 1);
  assert.deepEqual(withResult({ results }, "error"), {
    "api-reachable": "The answer to GET /version is not valid JSON; is the server an API server?",
  });
}

/** Flags of kube-apiserver, and the expected results. */
interface Flags {
  readonly flags: readonly string[];
  readonly expect: Readonly<Record<string, string>>;
  readonly says: RegExp;
}

const WITHOUT_WEBHOOKS: Flags = {
  flags: ["--disable-admission-plugins=MutatingAdmissionWebhook,ValidatingAdmissionWebhook"],
  expect: {
    "api-mutating-admission": "error",
    "api-validating-admission": "error",
    "api-aggregator-routing": "unknown",
  },
  says: /^pod\/kube-system\/kube-apiserver-a runs without the admission plugin MutatingAdmissionWebhook: --disable-/,
};

const WITH_WEBHOOKS: Flags = {
  flags: ["--enable-aggregator-routing=true"],
  expect: { "api-mutating-admission": "ok", "api-validating-admission": "ok", "api-aggregator-routing": "ok" },
  says: /^$/,
};

/** The API server passes version 4 of the protocol of commands on to the kubelet, as one before Kubernetes 1.30 does. */
const WITHOUT_TRANSLATION = "--feature-gates=TranslateStreamCloseWebsocketRequests=false";

async function runsCommands(cluster: Cluster): Promise<void> {
  const node = await startPod(cluster);
  try {
    await runs({ kubeconfig: cluster.kubeconfig });
  } finally {
    await node.stop();
  }
}

/** `check` reads the flags of the run from the static pod of the API server. */
async function reportsFlags(cluster: Cluster, { flags, expect, says }: Flags): Promise<void> {
  await addServiceAccount(cluster, "kube-system");
  const command = ["kube-apiserver", ...flags];
  const pod = {
    apiVersion: "v1",
    kind: "Pod",
    metadata: { name: "kube-apiserver-a", namespace: "kube-system", labels: { component: "kube-apiserver" } },
    spec: { containers: [{ name: "kube-apiserver", image: "kube-apiserver", command }] },
  };
  await created(cluster, pod);
  const results = await resultsOf(cluster.kubeconfig);
  assert.deepEqual(Object.fromEntries(Object.keys(expect).map((id) => [id, results.get(id)?.result])), expect);
  assert.match(results.get("api-mutating-admission")?.message ?? "", says);
  await removed(cluster, pod);
}

/** The server answers its version, and is killed before the first list. */
async function goesAway(cluster: Cluster): Promise<void> {
  let isKilled = false;
  const before = async (request: Request) => {
    const { pathname } = new URL(request.url);
    if (isKilled || !/pods$|namespaces$/.test(pathname)) return undefined;
    isKilled = true;
    await cluster.kill();
    return undefined;
  };
  const { code, results } = await through(
    cluster,
    { before },
    (kubeconfig) => check(cluster, [], { kubeconfig, run: runMesh }),
  );
  assert.equal(code, 1);
  assert.equal(results.get("api-reachable")?.result, "ok");
  const errors = withResult({ results }, "error");
  assert.ok(Object.keys(errors).length > 0);
  for (const [id, message] of Object.entries(errors)) {
    // What was read before is known: this cluster has no webhook.
    if (id === "webhook-exists") continue;
    // The proxy ends a connection whose answer breaks off before its first byte.
    assert.match(message, /answered 502|it needs|broke off|cannot be reached/, `${id}: ${message}`);
  }
  assert.deepEqual([...results.values()].filter(({ message }) => /defect/.test(message)), []);
  const down = await check(cluster);
  assert.deepEqual(Object.keys(withResult(down, "error")), ["api-reachable"]);
  assert.match(
    down.results.get("api-reachable")?.message ?? "",
    /cannot be reached: (connection refused|.*ECONNREFUSED)/,
  );
}

async function comesBack(cluster: Cluster, flags: readonly string[]): Promise<void> {
  const waiting = runMesh(["check", "--pre", "--wait", "2m", "-o", "json", "--kubeconfig", cluster.kubeconfig]);
  await cluster.restart(flags);
  const { code, stdout } = await waiting;
  assert.equal(code, 0, stdout);
  assert.equal(JSON.parse(stdout).success, true);
}
