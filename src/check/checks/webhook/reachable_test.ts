import assert from "node:assert/strict";
import { clusterApi, type ClusterOptions, object } from "../../../../test/support/kube/cluster.ts";
import { findingFor } from "../../../../test/support/kube/finding.ts";
import { meshWebhooks } from "../../../../test/support/kube/mesh_webhooks.ts";
import { webhookEndpoints, webhookFinding, webhookService } from "../../../../test/support/kube/webhook_check.ts";
import { shownText } from "../../../../test/support/kube/shown.ts";
import { ApiError, type KubeObject } from "../../../kube/client/mod.ts";
import { isList } from "../../../base/value.ts";
import { inventoryOf } from "../../inventory/mod.ts";

const ENABLED = { metadata: { labels: { "istio-injection": "enabled" } } };
const SHOP = object("v1", "Namespace", "shop", ENABLED);
const PLAIN = object("v1", "Namespace", "default");

type DryRun = NonNullable<ClusterOptions["dryRun"]>;

function reach(dryRun: DryRun, objects: readonly KubeObject[] = [...meshWebhooks(), PLAIN, SHOP]) {
  const behind = [webhookService(), webhookEndpoints(["ready"])];
  return webhookFinding("webhook-reachable", { objects: [...objects, ...behind], dryRun });
}

function injected(): KubeObject {
  const spec = { containers: [{ name: "check" }], initContainers: [{ name: "istio-proxy" }] };
  return object("v1", "Pod", "shop/made", { spec });
}

function failing(message: string, status = 500): DryRun {
  const asked = "POST /api/v1/namespaces/shop/pods";
  return () => {
    throw new ApiError(`The Kubernetes API server "https://c" answered ${status} to ${asked}: ${message}`, { status });
  };
}

const CALL = 'Internal error occurred: failed calling webhook "namespace.sidecar-injector.istio.io": failed to call ' +
  'webhook: Post "https://kubectl-mesh-webhook.istio-system.svc:443/inject?timeout=10s":';

Deno.test("a dry run with a sidecar in a labeled namespace is ok", async () => {
  const sent: [string, object][] = [];
  const found = await reach((namespace, pod) => {
    sent.push([namespace, pod]);
    return injected();
  });
  assert.deepEqual(found, { result: "ok", message: "confirmed by a dry run in the namespace shop" });
  assert.equal(sent.length, 1);
  assert.match(JSON.stringify(sent), /"shop".*"name":"kubectl-mesh-check-[0-9a-f]{8}".*"runAsNonRoot":true/);
});

Deno.test("a failed call is reported with its explanation", async () => {
  const cases: readonly (readonly [string, RegExp])[] = [
    ["net/http: TLS handshake timeout", /a firewall may block/],
    ["context deadline exceeded", /a firewall may block the control plane\nfix: allow TCP to port 15017/],
    [
      "dial tcp 10.0.0.1:15017: connect: connection refused",
      /no process listens on port 15017\nnext: see its log:\nkubectl logs -n istio-system deployment\/kubectl-mesh-webhook$/,
    ],
    ["x509: certificate signed by unknown authority", /no certificate in the caBundle signed/],
    [
      "x509: certificate has expired or is not yet valid: current time",
      /certificate has expired or is not yet valid\nfix/,
    ],
    ["x509: certificate is valid for a, not b", /does not name its Service/],
    ["Address is not allowed", /hostNetwork/],
    ["dial tcp 10.0.0.1:15017: connect: no route to host", /hostNetwork/],
    ["dial tcp 10.96.0.9:443: connect: network is unreachable", /no route to Services\nfix: run kube-proxy/],
    [
      "could not get REST client: unable to load root certificates: failed to parse certificate: x509: malformed certificate",
      /the caBundle .* is not a PEM certificate/,
    ],
    ["x509: certificate has too many extensions", /does not accept the webhook's certificate/],
    ["x509: cannot validate certificate for 10.0.0.1 because it doesn't contain any IP SANs", /does not name its/],
    [
      "unable to load root certificates: unable to parse bytes as PEM block",
      /the caBundle .* is not a PEM certificate/,
    ],
    [
      "the server could not find the requested resource",
      /clientConfig\.service\.path\nfix: .*\nkubectl patch mutating.*"path":"\/inject".*"path":"\/inject"/,
    ],
    ["EOF", /next: see its log/],
  ];
  for (const [cause, advice] of cases) {
    const { result, objects, ...shown } = await reach(failing(`${CALL} ${cause}`));
    const message = await shownText(shown);
    assert.deepEqual([result, objects], ["error", ["mutatingwebhookconfiguration/istio-sidecar-injector"]]);
    assert(message.includes(`${CALL} ${cause}`), message);
    assert.match(message, advice);
  }
});

Deno.test("if the request times out, the webhook with the longer timeout is reported", async () => {
  const sent = failing("Timeout: request did not complete within the allotted timeout", 504);
  const { result, ...shown } = await reach(sent);
  assert.equal(result, "error");
  assert.match(
    await shownText(shown),
    /^mutating.*: Timeout: request did not complete .*\nno response in time: .*\nfix: .*port 15017/,
  );
});

Deno.test("a webhook that denies the pod is an error", async () => {
  const denied = 'admission webhook "namespace.sidecar-injector.istio.io" denied the request: no template';
  const { result, message = "" } = await reach(failing(denied, 400));
  assert.equal(result, "error");
  assert.match(message, /it responds, but denies a pod: admission webhook/);
});

Deno.test("if another webhook or a quota denies the pod, the webhook is unknown", async () => {
  const others = [
    failing('Internal error occurred: failed calling webhook "policy.example.com": EOF'),
    failing('admission webhook "policy.example.com" denied the request: no'),
    failing('pods "kubectl-mesh-check-1" is forbidden: exceeded quota: small', 403),
  ];
  for (const dryRun of others) {
    const { result, message = "" } = await reach(dryRun);
    assert.equal(result, "unknown");
    assert.match(message, /^cannot tell: .*(policy\.example\.com|exceeded quota: small)/);
  }
});

Deno.test("a user who may not create pods sees the missing right", async () => {
  const dryRun = () => {
    const message =
      'The Kubernetes API server denied the request: pods is forbidden: User "joe" cannot create resource';
    throw new ApiError(message, { status: 403 });
  };
  assert.deepEqual(await reach(dryRun), {
    result: "unknown",
    message: 'cannot tell: needs create on pods in the namespace "shop"',
    missingRight: 'create on pods in the namespace "shop"',
  });
});

const same: DryRun = () => object("v1", "Pod", "shop/made", { spec: { containers: [{ name: "check" }] } });

/** The configuration with match conditions, hidden by failurePolicy Ignore. */
function conditional(...expressions: readonly string[]): readonly KubeObject[] {
  const matchConditions = expressions.map((expression, index) => ({ name: `c-${index}`, expression }));
  return meshWebhooks({ failurePolicy: "Ignore" }).map(({ webhooks, ...rest }) => ({
    ...rest,
    webhooks: (isList(webhooks) ? webhooks : []).map((each) => ({ ...Object(each), matchConditions })),
  }));
}

const FAILS = "object.metadata.nothing == 'a'";

Deno.test("a pod that match conditions may exclude leaves the result unknown", async () => {
  for (const conditions of [["false"], ["false", FAILS], [FAILS, "object.spec.hostNetwork"], ["'a' == 1"]]) {
    const { result, message = "" } = await reach(same, [...conditional(...conditions), SHOP]);
    assert.equal(result, "unknown", conditions.join());
    assert.match(message, /is created without a sidecar: the matchConditions of "namespace\..*" may exclude it/);
  }
});

Deno.test("a match condition that fails is an error, although failurePolicy Ignore hides the failure", async () => {
  const annotation = "object.metadata.annotations['a'] == 'b'";
  for (const failing of [[annotation], ["request.namespace == 'shop'", annotation]]) {
    const { result, message = "" } = await reach(same, [...conditional(...failing), SHOP]);
    assert.equal(result, "error", message);
    assert.match(
      message,
      /the condition "c-\d" of "namespace\..*" fails for the pod, and failurePolicy Ignore hides the failure: /,
    );
  }
});

Deno.test("a webhook whose match conditions hold is called: it does not answer", async () => {
  const { result, message = "" } = await reach(same, [...conditional("request.operation == 'CREATE'"), SHOP]);
  assert.equal(result, "error");
  assert.match(message, /does not respond, and failurePolicy Ignore hides the failure/);
});

Deno.test("a pod that asks for a sidecar and comes back without one is an error, also with Fail", async () => {
  const answered = await reach(same);
  assert.equal(answered.result, "error");
  assert.match(
    await shownText(answered),
    /although failurePolicy is Fail: .*\nfix: enable the admission plugin Mutating/,
  );
  const { result, message = "" } = await reach(same, [...meshWebhooks({ failurePolicy: "Ignore" }), SHOP]);
  assert.equal(result, "error");
  assert.match(message, /is created without a sidecar: .* does not respond, and failurePolicy Ignore hides/);
});

Deno.test("an answer as late as the timeout is a timeout, although Ignore hides the failure", async () => {
  let passed = 0;
  const dryRun: DryRun = () => {
    passed += 10_000;
    return object("v1", "Pod", "shop/made", { spec: {} });
  };
  const configurations = meshWebhooks({ failurePolicy: "Ignore" });
  const api = clusterApi({ objects: [...configurations, SHOP, webhookService(), webhookEndpoints(["ready"])], dryRun });
  const clock = { now: () => new Date(), monotonic: () => passed, sleep: () => Promise.resolve() };
  const scope = { namespace: undefined, istioNamespace: "istio-system", revision: undefined };
  const { result, ...shown } = await findingFor("webhook-reachable", inventoryOf({ api, clock, scope }));
  assert.equal(result, "error");
  assert.match(await shownText(shown), /after 10 s, the timeout of .*\n.*firewall.*\n.*port 15017/);
});

Deno.test("without a selected namespace no pod is sent", async () => {
  const system = object("v1", "Namespace", "kube-system");
  const found = await reach(() => assert.fail("a pod was sent"), [...meshWebhooks(), system]);
  assert.equal(found.result, "skipped");
});

Deno.test("each revision is tried", async () => {
  const canary = object("v1", "Namespace", "next", { metadata: { labels: { "istio.io/rev": "canary" } } });
  const tried: string[] = [];
  const dryRun: DryRun = (namespace) => {
    tried.push(namespace);
    return injected();
  };
  await reach(dryRun, [...meshWebhooks(), ...meshWebhooks({ revision: "canary" }), SHOP, canary]);
  assert.deepEqual(tried.sort(), ["next", "shop"]);
});

/** Refuses pods with a sidecar only. */
function refusing(message: string, status: number): DryRun {
  const refuse = failing(message, status);
  return (namespace, pod) =>
    JSON.stringify(pod).includes('"sidecar.istio.io/inject":"false"') ? same(namespace, pod) : refuse(namespace, pod);
}

Deno.test("a pod refused because of its sidecar proves that the webhook was reached", async () => {
  for (
    const [message, status] of [['Pod "x" is invalid: spec.initContainers[0]', 422], ["violates PodSecurity", 403]]
  ) {
    assert.equal((await reach(refusing(String(message), Number(status)))).result, "ok");
  }
});

Deno.test("a match condition that fails for every pod is an error", async () => {
  const failure = "pods \"x\" is forbidden: expression 'object.spec.x == 1' resulted in error: no such key: x";
  const { result, ...shown } = await reach(refusing(failure, 403));
  assert.equal(result, "error");
  assert.match(
    await shownText(shown),
    /denies every pod that matches the webhook: .* resulted in error.*\nfix: correct its matchCond/,
  );
});
