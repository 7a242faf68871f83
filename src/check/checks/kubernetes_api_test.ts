import assert from "node:assert/strict";
import { shownText } from "../../../test/support/kube/shown.ts";
import { clusterInventory, type ClusterOptions, object } from "../../../test/support/kube/cluster.ts";
import { meshWebhooks } from "../../../test/support/kube/mesh_webhooks.ts";
import type { Finding } from "../check.ts";
import { ApiError } from "../../kube/client/mod.ts";
import { KUBERNETES_API_CHECKS } from "./kubernetes_api.ts";
import { judge } from "../run.ts";

async function finding(id: string, options: ClusterOptions, serverFlag?: string): Promise<Finding> {
  const check = KUBERNETES_API_CHECKS.find((each) => each.id === id);
  assert(check !== undefined);
  return await judge(check, { ...clusterInventory(options), serverFlag });
}

const version = (gitVersion: string, major: string, minor: string) => ({
  raw: { "/version": { gitVersion, major, minor } },
});

Deno.test("an unreachable API is reported with the reason", async () => {
  assert.equal((await finding("api-reachable", version("v1.34.1", "1", "34"))).result, "ok");
  assert.equal((await finding("api-reachable", { forbidden: /version/ })).result, "ok");
  const gone = { failing: () => new ApiError("It cannot be reached", { hint: "is the cluster up?" }) };
  const shown: Finding = { result: "error", message: "It cannot be reached; is the cluster up?" };
  const { fixes, ...found } = await finding("api-reachable", gone);
  assert.deepEqual(found, shown);
  assert.match(
    await shownText({ fixes: fixes ?? [] }),
    /next: choose the cluster with --context .*\nor: .*\nkubectl version$/,
  );
  const ofFlag = await finding("api-reachable", gone, "https://user:secret@cluster.test");
  assert.match(
    await shownText({ fixes: ofFlag.fixes ?? [] }),
    /next: correct the address in --server\nor: .*\nkubectl version --server https:\/\/cluster\.test$/,
  );
});

Deno.test("versions before admissionregistration.k8s.io/v1 are too old", async () => {
  const cases: readonly (readonly [string, string, string, Finding["result"]])[] = [
    ["v1.15.12", "1", "15", "error"],
    ["v1.16.0", "1", "16", "ok"],
    ["v1.34.1-eks-1a2b", "1", "34+", "ok"],
    ["v2.0.0", "2", "0", "ok"],
    ["unknown", "", "", "unknown"],
  ];
  for (const [text, major, minor, result] of cases) {
    assert.equal((await finding("api-version", version(text, major, minor))).result, result, text);
  }
});

Deno.test("the API of webhooks must be served", async () => {
  const groups = (...versions: string[]) => ({
    raw: { "/apis": { groups: [{ name: "x", versions: versions.map((groupVersion) => ({ groupVersion })) }] } },
  });
  const served = groups("admissionregistration.k8s.io/v1beta1", "admissionregistration.k8s.io/v1");
  assert.equal((await finding("api-admission-registration", served)).result, "ok");
  const beta = groups("admissionregistration.k8s.io/v1beta1");
  assert.equal((await finding("api-admission-registration", beta)).result, "error");
  assert.deepEqual(await finding("api-admission-registration", { forbidden: /apis/ }), {
    result: "unknown",
    message: "cannot tell: needs get on the path /apis",
    missingRight: "get on the path /apis",
  });
});

function apiServer(...words: string[]) {
  const spec = { containers: [{ name: "kube-apiserver", command: ["kube-apiserver", ...words] }] };
  const metadata = { labels: { component: "kube-apiserver" } };
  return { objects: [object("v1", "Pod", "kube-system/kube-apiserver-a", { metadata, spec })] };
}

Deno.test("the flags of kube-apiserver show whether the webhooks are called", async () => {
  const cases: readonly (readonly [string, string, string])[] = [
    ["--enable-admission-plugins=NodeRestriction", "ok", "ok"],
    ["--disable-admission-plugins=DefaultStorageClass,MutatingAdmissionWebhook", "error", "ok"],
    ["--disable-admission-plugins=ValidatingAdmissionWebhook", "ok", "error"],
    ["--admission-control=NamespaceLifecycle,MutatingAdmissionWebhook", "ok", "error"],
  ];
  for (const [word, mutating, validating] of cases) {
    assert.equal((await finding("api-mutating-admission", apiServer(word))).result, mutating, word);
    assert.equal((await finding("api-validating-admission", apiServer(word))).result, validating, word);
  }
  const { message, objects } = await finding("api-mutating-admission", apiServer(cases[1]?.[0] ?? ""));
  assert.match(message ?? "", /without the admission plugin MutatingAdmissionWebhook: --disable-admission-plugins=/);
  assert.deepEqual(objects, ["pod/kube-system/kube-apiserver-a"]);
});

Deno.test("without visible kube-apiserver pods a dry run decides, or the result is unknown", async () => {
  const metadata = { labels: { "istio-injection": "enabled" } };
  const objects = [...meshWebhooks(), object("v1", "Namespace", "shop", { metadata })];
  const annotations = { "sidecar.istio.io/status": "{}" };
  const injected = () => object("v1", "Pod", "shop/made", { metadata: { annotations } });
  const seen: Finding = { result: "ok", message: "confirmed by a dry run" };
  assert.deepEqual(await finding("api-mutating-admission", { objects, dryRun: injected }), seen);
  const same = () => object("v1", "Pod", "shop/made", { spec: { containers: [{ name: "check" }] } });
  const { result, message = "" } = await finding("api-mutating-admission", { objects, dryRun: same });
  assert.equal(result, "error");
  assert.match(message, /^a pod in the namespace "shop" is created without a sidecar, although failurePolicy of "name/);
  const lenient = [...meshWebhooks({ failurePolicy: "Ignore" }), ...objects.slice(-1)];
  assert.equal((await finding("api-mutating-admission", { objects: lenient, dryRun: same })).result, "unknown");
  assert.equal((await finding("api-mutating-admission", { forbidden: /./ })).result, "unknown");
  assert.equal((await finding("api-validating-admission", { objects, dryRun: injected })).result, "unknown");
});
