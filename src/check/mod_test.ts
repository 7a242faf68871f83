import assert from "node:assert/strict";
import { ACCESS_REVIEWS, clusterApi, object } from "../../test/support/kube/cluster.ts";
import { meshWebhooks } from "../../test/support/kube/mesh_webhooks.ts";
import { fakeWorld } from "../../test/support/fake_world.ts";
import type { Finding } from "./check.ts";
import { ALL_CHECKS } from "./checks/all.ts";
import { chooseChecks, needsOf } from "./choose.ts";
import { hasNamespace, inventoryOf, labelChoice, type Source } from "./inventory/mod.ts";
import { hasChosen, runUntilWell } from "./mod.ts";
import { summaryOf } from "./result.ts";
import { judge } from "./run.ts";
import { runChecks } from "./run.ts";

const SCOPE = { namespace: undefined, istioNamespace: "istio-system", revision: undefined };

/** Runs one check that fails `failures` times, and then passes. */
async function wait(failures: number, milliseconds: number, finding: Finding = { result: "error" }) {
  const { clock } = fakeWorld();
  const waited: string[] = [];
  const source: Source = { api: clusterApi({}), clock, scope: SCOPE };
  let runs = 0;
  const run = (): Finding => ++runs > failures ? { result: "ok" } : finding;
  const checks = [{ id: "a", category: "webhook" as const, title: "a is well", needs: [], run }];
  const progress = { at: () => {}, now: (what: string) => void waited.push(what) };
  const options = { wait: milliseconds, failOn: "error" as const };
  const results = await runUntilWell(source, { checks, shown: new Set(["a"]) }, options, progress);
  return { runs, result: results[0]?.result, waited };
}

Deno.test("failed checks are repeated until the wait ends", async () => {
  const healed = await wait(2, 60_000);
  assert.deepEqual([healed.runs, healed.result], [3, "ok"]);
  assert.deepEqual(healed.waited, Array(2).fill('waiting for "a is well"'));
  const broken = await wait(1000, 5_000);
  assert.deepEqual([broken.runs, broken.result], [4, "error"]);
});

Deno.test("without --wait, or without a failure, checks run once", async () => {
  assert.equal((await wait(1000, 0)).runs, 1);
  assert.deepEqual((await wait(1000, 60_000, { result: "warning" })).runs, 1);
  assert.deepEqual((await wait(1000, 60_000, { result: "unknown" })).runs, 1);
});

/** Checks that pass without any right, because every user may read their values. */
const PUBLIC = ["api-reachable", "api-version", "api-admission-registration", "clock-skew"];

Deno.test("a user without rights gets no ok, and no success", async () => {
  const { clock } = fakeWorld({});
  const raw = { "/version": { gitVersion: "v1.34.1", major: "1", minor: "34" }, "/apis": {} };
  const api = clusterApi({ forbidden: /^\/(api|apis)\/./, raw, date: clock.now().toUTCString() });
  const all = chooseChecks(ALL_CHECKS, { categories: [], only: [], skip: [], pre: false });
  const results = await runChecks(all, inventoryOf({ api, clock, scope: SCOPE }), () => {});
  const well = results.filter(({ result }) => result === "ok").map(({ id }) => id);
  assert.deepEqual(well.filter((id) => !PUBLIC.includes(id)), []);
  const hidden = results.filter(({ id }) => !PUBLIC.includes(id));
  assert.deepEqual(summaryOf(hidden, "error").isSuccess, false);
});

Deno.test("without the right to read webhooks, what needs none is known: a Job's end, ports, users, open namespaces", async () => {
  const { clock } = fakeWorld({});
  const containers = [{ name: "istio-proxy", image: "p" }, {
    name: "app",
    image: "a",
    ports: [{ containerPort: 15001 }],
  }];
  const owner = { apiVersion: "batch/v1", kind: "Job", name: "j", controller: true };
  const objects = [
    object("v1", "Namespace", "shop"),
    object("v1", "Pod", "shop/j-1", {
      metadata: { generateName: "j-", ownerReferences: [owner] },
      spec: { containers },
    }),
    object("v1", "Pod", "shop/web", { spec: { containers: [{ name: "app", image: "a" }] } }),
  ];
  const raw = { "/version": { gitVersion: "v1.34.1", major: "1", minor: "34" } };
  const api = clusterApi({ objects, raw, forbidden: /webhookconfigurations/ });
  const choice = { categories: ["workloads", "security"], only: [], skip: [], pre: false };
  const scope = { ...SCOPE, namespace: "shop" };
  const results = await runChecks(chooseChecks(ALL_CHECKS, choice), inventoryOf({ api, clock, scope }), () => {});
  const byResult = Map.groupBy(results, ({ result }) => result);
  const ids = (result: "ok" | "warning" | "error" | "unknown") => byResult.get(result)?.map(({ id }) => id);
  assert.deepEqual(ids("error"), ["workload-ports"]);
  assert.deepEqual(ids("warning"), ["workload-jobs"]);
  assert.deepEqual(ids("ok"), [
    "workload-proxy-unexpected",
    "workload-host-network",
    "workload-windows",
    "workload-other-mesh",
    "workload-init-network",
    "workload-proxy-user",
    "workload-label-place",
    "workload-annotations",
    "workload-services",
    "pod-security",
    "resource-quota",
    "limit-range",
    "scc-ranges",
  ]);
  const missing = results.find(({ id }) => id === "workload-proxy-missing");
  assert.equal(missing?.message, "cannot tell for 1 pod: needs list on mutatingwebhookconfigurations");
});

Deno.test("a clock check alone does not make the webhook category a success", () => {
  const shown = (id: string, result: "ok" | "unknown") => {
    const empty = { message: "", becauseOf: "", fixes: [], hint: "", missingRight: "", objects: [] } as const;
    return { id, category: "webhook", title: id, result, ...empty } as const;
  };
  const hidden = shown("webhook-exists", "unknown");
  assert.equal(summaryOf([hidden, shown("clock-skew", "ok")], "error").isSuccess, false);
  assert.equal(summaryOf([hidden, shown("webhook-validation", "ok")], "error").isSuccess, true);
});

Deno.test("-l: each category checks the selected objects, and is not ok if none is selected", async () => {
  const labelled = (team: string) => ({ metadata: { labels: { team } } });
  const odd = { metadata: { labels: { "istio-injection": "enable", team: "a" } } };
  const objects = [
    ...meshWebhooks(),
    object("v1", "Namespace", "shop", odd),
    object("v1", "Namespace", "other", { metadata: { labels: { "istio-injection": "enabled" } } }),
    object("v1", "Pod", "other/web", { ...labelled("b"), spec: { containers: [{ name: "app" }] } }),
  ];
  const { clock } = fakeWorld({});
  const api = clusterApi({ objects, raw: { "/version": {}, "/apis": {} } });
  const only = ["namespace-label-values", "workload-proxy-missing", "workload-label-place"];
  const chosen = chooseChecks(ALL_CHECKS, { categories: [], only, skip: [], pre: false });
  const shown = async (text: string) => {
    const source = { api, clock, scope: { ...SCOPE, selector: labelChoice(text, "-l") } };
    const results = await runChecks(chosen, inventoryOf(source), () => {});
    const own = results.filter(({ id }) => only.includes(id)).map((
      { result, message },
    ) => [result, message.slice(0, 30)]);
    return { own, isAny: await hasChosen(source) };
  };
  assert.deepEqual(await shown("team=a"), {
    own: [
      ["error", "namespace/shop: the label istio"],
      ["skipped", "no pod has the labels of --sel"],
      ["skipped", "no workload has the labels of "],
    ].map(([result, message = ""]) => [result, message.slice(0, 30)]),
    isAny: true,
  });
  const { own: [first, second], isAny } = await shown("team=b");
  assert.deepEqual([first?.[0], second?.[0], isAny], ["skipped", "unknown", true]);
  assert.equal((await shown("team=c")).isAny, false);
});

Deno.test("a given namespace must exist, unless the user may not read it", async () => {
  const has = (namespace: string | undefined, options: Parameters<typeof clusterApi>[0]) =>
    hasNamespace(clusterApi(options), namespace);
  const objects = [object("v1", "Namespace", "shop")];
  assert.deepEqual([await has("shop", { objects }), await has("shpo", { objects })], [true, false]);
  assert.deepEqual([await has(undefined, { objects }), await has("shpo", { forbidden: /./ })], [true, true]);
});

Deno.test("ids of checks are unique, and required checks come first", () => {
  const seen = new Set<string>();
  for (const check of ALL_CHECKS) {
    assert.match(check.id, /^[a-z]+(-[a-z0-9]+)*$/);
    assert(!seen.has(check.id), `${check.id} is there twice`);
    seen.add(check.id);
  }
  const choice = { categories: [], only: [], skip: [], pre: false };
  const order = chooseChecks(ALL_CHECKS, choice).checks.map(({ id }) => id);
  for (const check of ALL_CHECKS) {
    for (const need of needsOf(check)) {
      assert(order.indexOf(need) >= 0, `${check.id} needs ${need}, which is not there`);
    }
  }
});

Deno.test("no check needs itself, directly or indirectly", () => {
  const needs = new Map(ALL_CHECKS.map((check) => [check.id, needsOf(check)]));
  const visit = (id: string, path: readonly string[]): void => {
    assert(!path.includes(id), [...path, id].join(" needs "));
    for (const next of needs.get(id) ?? []) visit(next, [...path, id]);
  };
  for (const id of needs.keys()) visit(id, []);
});

Deno.test("requests of several checks are sent once", async () => {
  const { clock } = fakeWorld({});
  const api = clusterApi({ raw: { "/version": { gitVersion: "v1.34.1", major: "1", minor: "34" } } });
  const inventory = inventoryOf({ api, clock, scope: SCOPE });
  for (const check of ALL_CHECKS) await judge(check, inventory);
  // Access reviews have the same path, and differ only in their bodies.
  const requests = api.requests.filter((request) => request !== `create ${ACCESS_REVIEWS}`);
  assert.deepEqual(requests.filter((request, index) => requests.indexOf(request) !== index), []);
});
