import assert from "node:assert/strict";
import { MemoryApi } from "../../../test/support/kube/memory_api.ts";
import { ApiError } from "../../kube/client/mod.ts";
import { startLog } from "../../platform/log.ts";
import { fakeWorld } from "../../../test/support/fake_world.ts";
import { textAt } from "../../base/value.ts";
import { BUILT_IN, clusterNames } from "../../inject/mod.ts";
import { injectorFromCluster } from "./cluster_injector.ts";

const MAPS = "/api/v1/namespaces/istio-system/configmaps";
const INJECTOR = `${MAPS}/istio-sidecar-injector`;
const MESH = `${MAPS}/istio`;

function map(path: string, data: Record<string, string>, labels = {}) {
  const name = path.slice(MAPS.length + 1);
  return { apiVersion: "v1", kind: "ConfigMap", metadata: { name, namespace: "istio-system", labels }, data };
}

const meshOf = (trustDomain: string) => map(MESH, { mesh: `trustDomain: ${trustDomain}` });
const injector = (labels = {}) => map(INJECTOR, { config: BUILT_IN.config, values: BUILT_IN.values }, labels);

/** A source with valid ConfigMaps, and its changes. */
async function opened() {
  const api = new MemoryApi();
  api.put(INJECTOR, injector());
  api.put(MESH, meshOf("one.test"));
  const world = fakeWorld();
  const options = { names: clusterNames({}), revision: "default" };
  const source = await injectorFromCluster(world, api, startLog(world, "webhook"), options);
  let changes = 0;
  source.onChange(() => changes++);
  const domain = () => textAt(source.current().mesh.data, "trustDomain");
  await settled();
  return { api, source, world, domain, changes: () => changes };
}

/** Waits until pending watch events are handled. */
async function settled(): Promise<void> {
  for (let turn = 0; turn < 5; turn++) await new Promise((resolve) => setTimeout(resolve, 0));
}

Deno.test("the injector comes from the ConfigMaps, and a change is applied", async () => {
  const { api, source, domain, changes } = await opened();
  assert.deepEqual([domain(), changes()], ["one.test", 0]);
  api.put(MESH, meshOf("two.test"));
  await settled();
  assert.deepEqual([domain(), source.problem(), changes()], ["two.test", undefined, 1]);
  source.close();
});

Deno.test("a change beside the texts of a ConfigMap makes no new injector", async () => {
  const { api, source, changes, world } = await opened();
  const before = source.current();
  api.put(INJECTOR, injector({ touched: "yes" }));
  await settled();
  assert.equal(source.current(), before);
  assert.deepEqual([changes(), world.said.stderr.includes("in force")], [0, false]);
  source.close();
});

Deno.test("an invalid or deleted ConfigMap keeps the previous injector, and is logged once", async () => {
  const { api, source, domain, changes, world } = await opened();
  api.put(INJECTOR, map(INJECTOR, { config: "templates: {sidecar: '{{ if }}'}" }));
  await settled();
  assert.match(source.problem() ?? "", /^ConfigMap "istio-system\/istio-sidecar-injector" .*cannot be parsed/);
  await api.remove(MESH);
  await settled();
  assert.equal(source.problem(), 'The ConfigMap "istio-system/istio" was deleted');
  api.put(INJECTOR, injector());
  await settled();
  assert.equal(world.said.stderr.match(/was deleted/g)?.length, 1);
  api.put(MESH, meshOf("one.test"));
  await settled();
  assert.deepEqual([domain(), source.problem(), changes()], ["one.test", undefined, 3]);
  source.close();
});

Deno.test("an unreachable API server is a problem until it answers", async () => {
  const { api, source, domain, world } = await opened();
  api.interrupt(new ApiError("It is away"));
  api.interrupt(new ApiError("It is away"));
  assert.deepEqual([domain(), source.problem()], ["one.test", "cannot watch the ConfigMaps: It is away"]);
  api.interrupt(undefined);
  assert.equal(source.problem(), undefined);
  assert.equal(world.said.stderr.match(/Cannot watch/g)?.length, 2, "once for each ConfigMap");
  source.close();
});

Deno.test("the first configuration is asked for until the API server gives it; each reason is logged once", async () => {
  const api = new MemoryApi();
  api.put(INJECTOR, injector());
  api.put(MESH, meshOf("one.test"));
  const problems = ["It is away", "It is away", "It is away", "It is forbidden"];
  const reasons: string[] = [];
  api.failing = (request) =>
    request === `get ${MESH}` && problems[0] ? new ApiError(problems.shift() ?? "") : undefined;
  const world = fakeWorld();
  const options = {
    names: clusterNames({}),
    revision: "default",
    waits: (problem: string) => void reasons.push(problem),
  };
  const source = await injectorFromCluster(world, api, startLog(world, "webhook"), options);
  assert.equal(textAt(source.current().mesh.data, "trustDomain"), "one.test");
  assert.deepEqual(reasons, ["It is away", "It is away", "It is away", "It is forbidden"]);
  const lines = world.said.stderr.match(
    /(Cannot read the configuration yet, trying again: .*|Read the configuration from.*)/g,
  );
  assert.deepEqual(lines?.map((line) => line.replace(/^.*: |"$/g, "")), [
    "It is away",
    "It is forbidden",
    "Read the configuration from the API server",
  ]);
  source.close();
});

Deno.test("an unusable first configuration is an error", async () => {
  const api = new MemoryApi();
  const world = fakeWorld();
  const open = () =>
    injectorFromCluster(world, api, startLog(world, "webhook"), { names: clusterNames({}), revision: "default" });
  await assert.rejects(open(), { name: "AbsentError", message: /^The ConfigMap "istio[^"]*" does not exist/ });
  api.put(INJECTOR, map(INJECTOR, { values: "{}" }));
  api.put(MESH, meshOf("one.test"));
  await assert.rejects(open(), { message: 'The ConfigMap has no key "config"', hint: 'existing keys: "values"' });
});
