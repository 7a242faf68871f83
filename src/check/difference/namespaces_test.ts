import assert from "node:assert/strict";
import { clusterApi, object } from "../../../test/support/kube/cluster.ts";
import { meshWebhooks } from "../../../test/support/kube/mesh_webhooks.ts";
import { ManualClock } from "../../../test/support/manual_clock.ts";
import { BUILT_IN, type InjectionSnapshot, type NativeChoice, nativeChoice } from "../../inject/mod.ts";
import type { KubeObject } from "../../kube/client/mod.ts";
import type { Side } from "./difference.ts";
import { namespaceDifference } from "./namespaces.ts";

const ON = { "istio-injection": "enabled" };
const CONFIG_MAP = object("v1", "ConfigMap", "istio-system/kubectl-mesh-webhook", {
  data: { config: BUILT_IN.config, values: BUILT_IN.values, mesh: BUILT_IN.mesh },
});

function namespaces(labels: Readonly<Record<string, Record<string, string>>>): readonly KubeObject[] {
  return Object.entries(labels).map(([name, own]) => object("v1", "Namespace", name, { metadata: { labels: own } }));
}

const SHOP = namespaces({ shop: ON, pay: ON, bare: {} });

function snapshot(objects: readonly KubeObject[], options: Partial<InjectionSnapshot> = {}): InjectionSnapshot {
  const known = { namespaces: [], kubeletVersions: ["v1.30.0"], unreadable: [], withheld: [] };
  const all = [CONFIG_MAP, ...meshWebhooks(), ...objects];
  return { controlPlane: { istioNamespace: "istio-system" }, objects: all, ...known, ...options };
}

function side(name: string, cluster: Side["cluster"]): Side {
  return { name, injectors: new Map(), isWhole: false, cluster };
}

interface Live {
  readonly objects?: readonly KubeObject[];
  readonly forbidden?: RegExp;
  readonly native?: NativeChoice | undefined;
}

/** Compares "old" with "new" and returns the names of the namespaces that differ, with both texts. */
async function compared(old: Side["cluster"], next: Side["cluster"], { objects, forbidden, native }: Live = {}) {
  const api = objects === undefined
    ? undefined
    : clusterApi({ objects, ...forbidden === undefined ? {} : { forbidden } });
  const asking = { api, clock: new ManualClock(0), native };
  const found = await namespaceDifference([side("old", old), side("new", next)], asking);
  assert(found !== undefined);
  const { pairs, missing, unknown } = found;
  const changed = pairs.filter(({ before, after }) => before !== after).map((pair) =>
    Object.values(pair).map((text) => text.trim())
  );
  return { count: pairs.length, changed, missing, unknown };
}

const BY_DEFAULT = 'injected by revision "default"';

Deno.test("a namespace without its label differs; another reason for no injection does not", async () => {
  const next = snapshot(namespaces({ shop: {}, pay: ON, bare: { "istio-injection": "disabled" } }));
  assert.deepEqual(await compared(snapshot(SHOP), next), {
    count: 3,
    changed: [["namespace/shop", BY_DEFAULT, "not injected"]],
    missing: [],
    unknown: [],
  });
});

Deno.test("new kubelets change the sidecars of injected namespaces, unless the user decides", async () => {
  const next = snapshot(SHOP, { kubeletVersions: ["v1.34.0"] });
  const { changed } = await compared(snapshot(SHOP), next);
  const native = `${BY_DEFAULT}, with a native sidecar`;
  assert.deepEqual(changed, [["namespace/pay", BY_DEFAULT, native], ["namespace/shop", BY_DEFAULT, native]]);
  assert.deepEqual((await compared(snapshot(SHOP), next, { native: nativeChoice(true, undefined) })).changed, []);
});

Deno.test("a namespace that only one side has is named, unless the other is limited to others", async () => {
  const fresh = snapshot([...SHOP, ...namespaces({ fresh: ON })]);
  assert.deepEqual((await compared(snapshot(SHOP), fresh)).missing, ['Only "new" has the namespace "fresh"']);
  assert.deepEqual((await compared(fresh, snapshot(SHOP))).missing, ['Only "old" has the namespace "fresh"']);
  const limited = snapshot(namespaces({ shop: ON }), { namespaces: ["shop"] });
  const { missing, count } = await compared(limited, fresh);
  assert.deepEqual([missing, count], [[], 1]);
});

Deno.test("a live cluster is compared in the namespaces of the snapshot; what cannot be read is unknown", async () => {
  const node = object("v1", "Node", "one", { status: { nodeInfo: { kubeletVersion: "v1.30.0" } } });
  const objects = [CONFIG_MAP, ...meshWebhooks(), ...namespaces({ shop: {}, pay: ON, bare: {} }), node];
  const whole = await compared(snapshot(SHOP), "live", { objects });
  assert.deepEqual([whole.count, whole.changed.map(([name]) => name), whole.unknown], [3, ["namespace/shop"], []]);
  const limited = snapshot(namespaces({ pay: ON }), { namespaces: ["pay"] });
  const some = await compared(limited, "live", { objects, forbidden: /namespaces$/ });
  assert.deepEqual(some, { count: 1, changed: [], missing: [], unknown: [] });
  const blind = await compared(snapshot(SHOP), "live", { objects, forbidden: /namespaces$/ });
  assert.deepEqual([blind.count, blind.unknown], [0, ['"new" needs list on namespaces']]);
  const { unknown } = await compared(snapshot(SHOP), "live", { objects, forbidden: /nodes/ });
  assert.match(unknown[0] ?? "", /the nodes decide whether the sidecar is native: .*list on nodes/);
});

Deno.test("without a snapshot, namespaces are not compared", async () => {
  const asking = { api: clusterApi({ objects: [] }), clock: new ManualClock(0), native: undefined };
  for (const cluster of ["live", undefined] as const) {
    const sides = [side("a", cluster), side("b", "live")] as const;
    assert.equal(await namespaceDifference(sides, asking), undefined);
  }
  assert.equal(await namespaceDifference([side("a", snapshot(SHOP)), side("b", undefined)], asking), undefined);
});
