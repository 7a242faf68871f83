import assert from "node:assert/strict";
import { clusterInventory, object } from "../../../../test/support/kube/cluster.ts";
import { meshWebhooks } from "../../../../test/support/kube/mesh_webhooks.ts";
import { shownText } from "../../../../test/support/kube/shown.ts";
import type { KubeObject } from "../../../kube/client/mod.ts";
import type { Value } from "../../../base/value.ts";
import { judge } from "../../run.ts";
import { bundleIsUnmanaged } from "./gitops.ts";

/** Returns the finding for a configuration in which this manager owns the field. */
async function found(
  manager: string,
  field = "f:caBundle",
  { annotations = {}, labels = {}, others = [] }: {
    readonly annotations?: Record<string, string>;
    readonly labels?: Record<string, string>;
    readonly others?: readonly KubeObject[];
  } = {},
) {
  const name = 'k:{"name":"namespace.sidecar-injector.istio.io"}';
  const fieldsV1 = { "f:webhooks": { [name]: { "f:clientConfig": { [field]: {} } } } };
  const objects = meshWebhooks().map((each) => {
    const managedFields = [{ manager, operation: "Apply", fieldsV1 }];
    return { ...each, metadata: { ...each.metadata, annotations, labels, managedFields } };
  });
  return await judge({ run: bundleIsUnmanaged }, clusterInventory({ objects: [...objects, ...others] }));
}

Deno.test("webhook-gitops: Argo CD that owns the caBundle is reported with its ignoreDifferences", async () => {
  const { result, ...shown } = await found("argocd-controller");
  assert.equal(result, "warning");
  assert.match(
    await shownText(shown),
    /both Argo CD and the control plane set its caBundle: .*\nfix: .* ignoreDifferences: \[.*clientConfig\.caBundle/,
  );
});

const KIND = "MutatingWebhookConfiguration";
const MARK = { "argocd.argoproj.io/tracking-id": `istio:admissionregistration.k8s.io/${KIND}:/x` };

function application(name: string, spec: Record<string, Value> = {}): KubeObject {
  return object("argoproj.io/v1alpha1", "Application", name, { spec });
}

/** Returns the patches of Applications. */
async function patches(options: Parameters<typeof found>[2]): Promise<readonly (readonly unknown[])[]> {
  const { fixes = [] } = await found("argocd-controller", "f:caBundle", options);
  const commands = fixes.flatMap(({ alternatives }) => alternatives.flatMap(({ steps }) => steps));
  return commands.map(({ command }) => {
    const [, name, namespace, patch = ""] =
      /^kubectl patch applications\.argoproj\.io\/(\S+) -n (\S+) --type=merge -p '(.*)'$/.exec(command) ?? [];
    return [namespace, name, JSON.parse(patch).spec];
  });
}

Deno.test("webhook-gitops: the patch of Argo CD's Application keeps its existing ignoreDifferences", async () => {
  const mine = { group: "apps", kind: "Deployment", jsonPointers: ["/spec/replicas"] };
  const left = {
    group: "admissionregistration.k8s.io",
    kind: KIND,
    jqPathExpressions: [".webhooks[]?.clientConfig.caBundle"],
  };
  const set = (ignoreDifferences: readonly object[], ...syncOptions: readonly string[]) => {
    return { ignoreDifferences, syncPolicy: { syncOptions } };
  };
  const policy = { automated: {}, syncOptions: ["ServerSideApply=true", "RespectIgnoreDifferences=false"] };
  const others = [application("argo/istio", { ignoreDifferences: [mine], syncPolicy: policy })];
  const [ALL, RESPECT] = [["ServerSideApply=true"], "RespectIgnoreDifferences=true"];
  assert.deepEqual(await patches({ annotations: MARK, others }), [[
    "argo",
    "istio",
    set([mine, left], ...ALL, RESPECT),
  ]]);
  const labels = { "app.kubernetes.io/instance": "istio" };
  assert.deepEqual(await patches({ labels, others: [application("argo/istio")] }), [[
    "argo",
    "istio",
    set([left], RESPECT),
  ]]);
  const elsewhere = { "argocd.argoproj.io/tracking-id": "team_istio:x" };
  const two = [application("team/istio"), application("argo/istio")];
  assert.deepEqual((await patches({ annotations: elsewhere, others: two })).map(([namespace]) => namespace), ["team"]);
});

Deno.test("webhook-gitops: an unknown or ambiguous Application gets no command", async () => {
  assert.deepEqual(await patches({ annotations: MARK }), []);
  assert.deepEqual(await patches({ annotations: MARK, others: [application("a/istio"), application("b/istio")] }), []);
  assert.deepEqual(await patches({ others: [application("argo/istio")] }), []);
});

Deno.test("webhook-gitops: Flux that owns the caBundle is reported", async () => {
  assert.match((await found("kustomize-controller")).message ?? "", /both Flux and the control plane set its caBundle/);
});

Deno.test("webhook-gitops: other fields and other managers are ok", async () => {
  assert.equal((await found("argocd-controller", "f:service")).result, "ok");
  assert.equal((await found("pilot-discovery")).result, "ok");
});

Deno.test("webhook-gitops: a manager that owns caBundle or failurePolicy of the validating webhook is reported", async () => {
  const validating = (manager: string, fields: Record<string, Record<string, never>>, webhook: string) => {
    const fieldsV1 = { "f:webhooks": { [`k:{"name":"${webhook}"}`]: fields } };
    const metadata = { managedFields: [{ manager, operation: "Apply", fieldsV1 }] };
    const webhooks = [{ name: webhook, clientConfig: {}, rules: [{}] }];
    const group = "admissionregistration.k8s.io/v1";
    return object(group, "ValidatingWebhookConfiguration", "istiod", { metadata, webhooks });
  };
  const finding = async (each: ReturnType<typeof validating>) =>
    await judge({ run: bundleIsUnmanaged }, clusterInventory({ objects: [each] }));
  const POLICY = { "f:failurePolicy": {} };
  const { result, ...shown } = await finding(validating("argocd-controller", POLICY, "rev.validation.istio.io"));
  assert.equal(result, "warning");
  assert.match(
    await shownText(shown),
    /^validatingwebhookconfiguration\/istiod: both Argo CD .*caBundle and failurePolicy.*\nfix: .*"\.webhooks\[\]\?\.failurePolicy"\]/,
  );
  assert.equal((await finding(validating("pilot-discovery", POLICY, "rev.validation.istio.io"))).result, "ok");
  assert.equal((await finding(validating("argocd-controller", POLICY, "policy.example.com"))).result, "ok");
  assert.equal(
    (await finding(validating("argocd-controller", { "f:rules": {} }, "rev.validation.istio.io"))).result,
    "ok",
  );
});

Deno.test("webhook-gitops: a bare pod with a sidecar that Argo CD tracks is reported", async () => {
  const spec = { containers: [{ name: "app" }, { name: "istio-proxy", image: "proxy" }] };
  const annotations = { "argocd.argoproj.io/tracking-id": "shop:/Pod:shop/single" };
  const finding = async (
    metadata: Record<string, typeof annotations | { name: string; kind: string }[]>,
    parts = spec,
  ) =>
    await judge(
      { run: bundleIsUnmanaged },
      clusterInventory({ objects: [object("v1", "Pod", "shop/single", { metadata, spec: parts })] }),
    );
  const { result, ...shown } = await finding({ annotations });
  assert.equal(result, "warning");
  assert.match(await shownText(shown), /^pod\/shop\/single: Argo CD compares .*\nfix: .*ServerSideDiff=true/);
  assert.equal((await finding({})).result, "ok");
  assert.equal((await finding({ annotations, ownerReferences: [{ name: "web-1", kind: "ReplicaSet" }] })).result, "ok");
  assert.equal((await finding({ annotations }, { containers: spec.containers.slice(0, 1) })).result, "ok");
});
