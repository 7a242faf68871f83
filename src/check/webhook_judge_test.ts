import assert from "node:assert/strict";
import { clusterApi, type ClusterOptions, object } from "../../test/support/kube/cluster.ts";
import { meshWebhooks } from "../../test/support/kube/mesh_webhooks.ts";
import { ManualClock } from "../../test/support/manual_clock.ts";
import type { KubeObject } from "../kube/client/mod.ts";
import type { ValueMap } from "../base/value.ts";
import {
  BUILT_IN,
  InjectionError,
  type Judgment,
  type NativeChoice,
  nativeChoice,
  workloadKind,
} from "../inject/mod.ts";
import { webhookJudge } from "./webhook_judge.ts";

const CONFIG = BUILT_IN.config;

function plane(revision: string, config = CONFIG): KubeObject[] {
  const suffix = revision === "default" ? "" : `-${revision}`;
  return [
    object("v1", "ConfigMap", `istio-system/istio-sidecar-injector${suffix}`, {
      data: { config, values: BUILT_IN.values },
    }),
    object("v1", "ConfigMap", `istio-system/istio${suffix}`, { data: { mesh: "" } }),
  ];
}

/** The webhooks of a revision as Istio installs them: their Service is istiod. */
function webhooks(revision: string, change: (webhook: ValueMap) => ValueMap = (webhook) => webhook): KubeObject[] {
  const service = { namespace: "istio-system", name: "istiod", path: "/inject/cluster/east" };
  return meshWebhooks({ revision }).map((configuration) => {
    const own = Array.isArray(configuration["webhooks"]) ? configuration["webhooks"] : [];
    return { ...configuration, webhooks: own.map((each) => change({ ...Object(each), clientConfig: { service } })) };
  });
}

function namespace(name: string, labels: Record<string, string> = {}): KubeObject {
  return object("v1", "Namespace", name, { metadata: { labels } });
}

function node(name: string, kubeletVersion: string): KubeObject {
  return object("v1", "Node", name, { status: { nodeInfo: { kubeletVersion } } });
}

const OBJECTS: readonly KubeObject[] = [
  ...plane("default"),
  ...plane("canary"),
  ...webhooks("default"),
  ...webhooks("canary"),
  namespace("bare"),
  namespace("shop", { "istio-injection": "enabled" }),
  namespace("pay", { "istio.io/rev": "canary" }),
];

interface Asked {
  readonly namespace?: string | undefined;
  readonly native?: NativeChoice | undefined;
  readonly pod?: ValueMap;
  readonly labels?: Record<string, string>;
}

async function judged(options: Partial<ClusterOptions>, asked: Asked = {}): Promise<Judgment> {
  const { namespace = "shop", native, pod = {}, labels = {} } = asked;
  const manifest: ValueMap = {
    apiVersion: "v1",
    kind: "Pod",
    metadata: { name: "web", labels, ...namespace === "" ? {} : { namespace } },
    spec: { containers: [{ name: "app", image: "app:1" }], ...pod },
  };
  const api = clusterApi({ objects: OBJECTS, ...options });
  const clock = new ManualClock(0);
  const { prepare, judge } = webhookJudge({ api, clock, choice: {}, namespace: undefined, native });
  await prepare(manifest);
  const row = workloadKind(manifest);
  assert(row !== undefined);
  return judge(manifest, row);
}

async function refused(options: Partial<ClusterOptions>, asked?: Asked): Promise<InjectionError> {
  const error: unknown = await judged(options, asked).then(() => undefined, (error) => error);
  assert(error instanceof InjectionError, String(error));
  return error;
}

Deno.test("the webhook of the namespace's revision injects the pod, with the settings in the webhook's URL", async () => {
  for (const [namespace, revision] of [["shop", "default"], ["pay", "canary"]] as const) {
    const { decision, by, injectors } = await judged({}, { namespace });
    assert.deepEqual([decision.inject, by?.revision, injectors.length], [true, revision, 1]);
    assert.equal(injectors[0]?.revision, revision === "default" ? "" : revision);
    assert.deepEqual(injectors[0]?.proxyEnvs, { ISTIO_META_CLUSTER_ID: "east" });
  }
});

Deno.test("a pod without a webhook is skipped with the reason that check injection gives", async () => {
  const rows: readonly (readonly [Asked, string])[] = [
    [{ namespace: "bare" }, "namespace-not-labelled"],
    [{ labels: { "sidecar.istio.io/inject": "false" } }, "label-inject-false"],
    [{ pod: { hostNetwork: true } }, "pod-host-network"],
  ];
  for (const [asked, reason] of rows) {
    const { decision, injectors, by } = await judged({}, asked);
    assert.deepEqual([decision.inject, decision.reason, injectors, by], [false, reason, [], undefined]);
  }
  const without = OBJECTS.filter(({ kind }) => kind !== "MutatingWebhookConfiguration");
  assert.equal((await judged({ objects: without })).decision.reason, "no-webhook");
});

Deno.test("unknown data is an error that names the missing right; a pod on the host network is skipped without it", async () => {
  const rows: readonly (readonly [Partial<ClusterOptions>, Asked, string, RegExp])[] = [
    [{ forbidden: /mutating/ }, {}, "webhooks-unknown", /needs list on mutatingwebhookconfigurations/],
    [{ forbidden: /namespaces\/shop$/ }, {}, "namespace-unknown", /needs get on namespaces/],
    [{}, { namespace: "lost" }, "namespace-unknown", /there is no namespace "lost"; create it first/],
    [{}, { namespace: "" }, "namespace-unknown", /does not name a namespace/],
    [{ forbidden: /configmaps/ }, {}, "configuration-unknown", /needs get on configmaps/],
    [{ forbidden: /nodes/ }, {}, "native-unknown", /needs list on nodes/],
  ];
  for (const [options, asked, reason, message] of rows) {
    const error = await refused(options, asked);
    assert.equal(error.reason, reason);
    assert.match(error.message, message);
    const host = await judged(options, { ...asked, pod: { hostNetwork: true } });
    assert.equal(host.decision.reason, "pod-host-network");
  }
});

Deno.test("a server that fails ends the run", async () => {
  const failing = () => new Error("refused");
  await assert.rejects(judged({ failing }), { name: "MeshError" });
});

Deno.test("all nodes decide about native sidecars, unless the pod names its node or the user decides", async () => {
  const native = async (objects: readonly KubeObject[], asked?: Asked) =>
    (await judged({ objects: [...OBJECTS, ...objects] }, asked)).injectors[0]?.nativeSidecars;
  const [old, young] = [node("old", "v1.30.0"), node("young", "v1.34.0")];
  assert.equal(await native([]), false);
  assert.equal(await native([young]), true);
  assert.equal(await native([old, young]), false);
  assert.equal(await native([old, young], { pod: { nodeName: "young" } }), true);
  assert.equal(await native([young], { native: nativeChoice(false, undefined) }), false);
  const forbidden = { forbidden: /nodes/ };
  assert.equal((await judged(forbidden, { native: nativeChoice(true, undefined) })).decision.inject, true);
});

Deno.test("several webhooks inject in turn; a reinvoked webhook also injects last", async () => {
  const all = (webhook: ValueMap): ValueMap => ({ ...webhook, namespaceSelector: {}, objectSelector: {} });
  const named = (revision: string, reinvocationPolicy = "Never") =>
    webhooks(revision, (webhook) => ({ ...all(webhook), reinvocationPolicy })).map((configuration) => ({
      ...configuration,
      webhooks: Array.isArray(configuration["webhooks"]) ? configuration["webhooks"].slice(0, 1) : [],
    }));
  const base = OBJECTS.filter(({ kind }) => kind !== "MutatingWebhookConfiguration");
  const revisions = async (objects: readonly KubeObject[]) => {
    const { injectors, decision, by } = await judged({ objects: [...base, ...objects] });
    assert.match(decision.warnings.join(), /2 webhooks inject the pod in turn/);
    return [injectors.map(({ revision }) => revision), by?.revision];
  };
  assert.deepEqual(await revisions([...named("default"), ...named("canary")]), [["", "canary"], "canary"]);
  const again = [...named("default", "IfNeeded"), ...named("canary")];
  assert.deepEqual(await revisions(again), [["", "canary", ""], "default"]);
});

Deno.test("if the configuration of one of two webhooks is unknown, judging the pod is an error", async () => {
  const all = (webhook: ValueMap): ValueMap => ({ ...webhook, namespaceSelector: {}, objectSelector: {} });
  const base = OBJECTS.filter(({ kind }) => kind !== "MutatingWebhookConfiguration");
  const objects = [...base, ...webhooks("default", all), ...webhooks("canary", all)];
  const error = await refused({ objects, forbidden: /-canary$/ });
  assert.equal(error.reason, "configuration-unknown");
});
