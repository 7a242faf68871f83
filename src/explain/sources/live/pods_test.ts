import assert from "node:assert/strict";
import type { KubeObject } from "../../../kube/client/mod.ts";
import type { ValueMap } from "../../../base/value.ts";
import type { PodChoice } from "../../question/question.ts";
import { choosePods, selectorText } from "./pods.ts";

const CHOICE: PodChoice = {
  name: undefined,
  selector: undefined,
  namespace: undefined,
  allNamespaces: false,
  container: undefined,
};

function pod(name: string, status: ValueMap, containers = ["app", "istio-proxy"]): KubeObject {
  const spec = { containers: containers.map((each) => ({ name: each })) };
  return { apiVersion: "v1", kind: "Pod", metadata: { name, namespace: "shop" }, spec, status };
}

const READY = { phase: "Running", conditions: [{ type: "Ready", status: "True" }] };
const PODS = [
  pod("web-1", { phase: "Pending" }),
  pod("web-2", READY),
  pod("job-1", { phase: "Succeeded" }),
  pod("bare", READY, ["app"]),
];

/** An API with one object of each path, and these pods. */
function apiOf(objects: Record<string, object>, asked: string[] = []) {
  return {
    get: (path: string) => {
      const found = objects[path];
      return Promise.resolve(
        found === undefined ? undefined : { apiVersion: "v1", kind: "X", metadata: { name: "web" }, ...found },
      );
    },
    list: (path: string, query: Readonly<Record<string, string>> = {}) => {
      asked.push(`${path}?${query["labelSelector"] ?? ""}`);
      return Promise.resolve({ items: PODS, resourceVersion: "1" });
    },
  };
}

Deno.test("choosePods() takes the ready pod of a workload and says which", async () => {
  const asked: string[] = [];
  const api = apiOf({
    "/apis/apps/v1/namespaces/shop/deployments/web": { spec: { selector: { matchLabels: { app: "web" } } } },
    "/api/v1/namespaces/shop/services/web": { spec: { selector: { app: "web", tier: "a" } } },
  }, asked);
  for (const name of ["deployment/web", "svc/web"]) {
    const { pods, note } = await choosePods(api, { ...CHOICE, name }, "shop");
    assert.deepEqual(pods.map(({ metadata }) => metadata.name), ["web-2"]);
    assert.equal(note, `Pod "shop/web-2" of ${name} (1 of 4)`);
  }
  assert.deepEqual(asked, [
    "/api/v1/namespaces/shop/pods?app=web",
    "/api/v1/namespaces/shop/pods?app=web,tier=a",
  ]);
});

Deno.test("choosePods() by labels leaves out pods without a proxy and pods that have ended", async () => {
  const asked: string[] = [];
  const { pods } = await choosePods(apiOf({}, asked), { ...CHOICE, selector: "app=web" }, undefined);
  assert.deepEqual(pods.map(({ metadata }) => metadata.name), ["web-1", "web-2"]);
  await choosePods(apiOf({}, asked), { ...CHOICE, allNamespaces: true }, "shop");
  assert.deepEqual(asked, ["/api/v1/namespaces/default/pods?app=web", "/api/v1/pods?"]);
});

Deno.test("choosePods() names what is missing", async () => {
  const cases: readonly [Partial<PodChoice>, RegExp][] = [
    [{ name: "gone" }, /"pod\/gone" does not exist in the namespace "shop"/],
    [{ name: "nothing/web" }, /The kind "nothing" is not a known workload kind/],
    [{ name: "svc/web" }, /"svc\/web" in the namespace "shop" selects no pods/],
    [{ selector: "a=b", container: "envoy" }, /None of the 4 pods with the labels "a=b" .* has a container "envoy"/],
  ];
  const api = apiOf({ "/api/v1/namespaces/shop/services/web": { spec: {} } });
  for (const [choice, message] of cases) {
    await assert.rejects(choosePods(api, { ...CHOICE, ...choice }, "shop"), { message });
  }
});

Deno.test("choosePods() without any pod names the flag that can help", async () => {
  const api = { ...apiOf({}), list: () => Promise.resolve({ items: [], resourceVersion: "1" }) };
  const cases: readonly [Partial<PodChoice>, string, string][] = [
    [{ selector: "a=b" }, 'No pod with the labels "a=b" exists in the namespace "shop"', "see --namespace"],
    [{ allNamespaces: true }, "No pod exists in any namespace", "see --context"],
    [
      { allNamespaces: true, selector: "a=b" },
      'No pod with the labels "a=b" exists in any namespace',
      "see --selector",
    ],
  ];
  for (const [choice, message, hint] of cases) {
    await assert.rejects(choosePods(api, { ...CHOICE, ...choice }, "shop"), { message, hint });
  }
});

Deno.test("selectorText() writes expressions as kubectl does", () => {
  const matchExpressions = [
    { key: "a", operator: "In", values: ["b", "c"] },
    { key: "d", operator: "NotIn", values: ["e"] },
    { key: "f", operator: "Exists" },
    { key: "g", operator: "DoesNotExist" },
  ];
  assert.equal(selectorText({ matchLabels: { x: "y" }, matchExpressions }), "x=y,a in (b,c),d notin (e),f,!g");
});

Deno.test("choosePods() by labels names the running pods that it leaves out", async () => {
  const { pods, note } = await choosePods(apiOf({}), { ...CHOICE, selector: "app=web" }, "shop");
  assert.deepEqual(pods.map(({ metadata }) => metadata.name), ["web-1", "web-2"]);
  const why = '"kubectl mesh check injection" shows why';
  assert.equal(note, `note: Left out, because it has no proxy: shop/bare; ${why}`);
});
