import assert from "node:assert/strict";
import { clusterInventory, type ClusterOptions, object } from "../../../../test/support/kube/cluster.ts";
import { findingFor } from "../../../../test/support/kube/finding.ts";
import { shownText } from "../../../../test/support/kube/shown.ts";
import type { KubeObject } from "../../../kube/client/mod.ts";
import { GATEWAY_CRDS } from "../../inventory/gateway_crds.ts";

const SERVED = {
  raw: { "/apis": { groups: [{ versions: [{ groupVersion: "gateway.networking.k8s.io/v1" }] }] } },
};

function crd(plural: string, versions: string, bundle?: string): KubeObject {
  const annotations = bundle === undefined ? {} : { "gateway.networking.k8s.io/bundle-version": bundle };
  const all = versions.split(" ").filter(Boolean).map((word) => ({
    name: word.replace("-", ""),
    served: !word.startsWith("-"),
    schema: { openAPIV3Schema: { type: "object" } },
  }));
  const name = `${plural}.gateway.networking.k8s.io`;
  return object("apiextensions.k8s.io/v1", "CustomResourceDefinition", name, {
    metadata: { annotations },
    spec: { group: "gateway.networking.k8s.io", versions: all },
  });
}

async function found(objects: readonly KubeObject[], options: ClusterOptions = SERVED) {
  const finding = await findingFor("api-gateway-crds", clusterInventory({ objects, ...options }));
  return { ...finding, text: await shownText(finding) };
}

interface Row {
  readonly name: string;
  readonly crd: KubeObject;
  readonly result: string;
  readonly says: RegExp;
}

const ROWS: readonly Row[] = [
  { name: "of today", crd: crd("gateways", "v1 v1beta1", "v1.4.0"), result: "ok", says: /^$/ },
  {
    name: "before v1beta1 (IST0156)",
    crd: crd("gateways", "v1alpha2", "v0.4.0"),
    result: "error",
    says:
      /^customresourcedefinition\/gateways\.gateway\.networking\.k8s\.io: it serves v1alpha2, and Istio reads v1, or v1beta1 before 1\.29\nfix: apply the CRDs of the Gateway API v1\.0\.0 or later$/,
  },
  {
    name: "before v1 (IST0172)",
    crd: crd("httproutes", "v1alpha2 v1beta1", "v0.8.0"),
    result: "warning",
    says: /it serves v1alpha2, v1beta1, and Istio reads v1 since 1\.29/,
  },
  { name: "not served", crd: crd("gatewayclasses", "-v1 -v1beta1"), result: "error", says: /it serves no version/ },
  { name: "of v1beta1 alone", crd: crd("referencegrants", "v1beta1", "v1.4.0"), result: "ok", says: /^$/ },
  {
    name: "without it",
    crd: crd("referencegrants", "v1"),
    result: "error",
    says: /it serves v1, and Istio reads v1beta1\n/,
  },
  {
    name: "of an old bundle (IST0176)",
    crd: crd("tlsroutes", "v1alpha2", "v1.4.1"),
    result: "warning",
    says:
      /it comes from the Gateway API v1\.4\.1: Istio 1\.30 and later ignore versions below v1\.5\.0\nfix: .*v1\.5\.0 or later$/,
  },
  { name: "of the oldest bundle", crd: crd("tlsroutes", "v1", "v1.5.0"), result: "ok", says: /^$/ },
  { name: "a candidate of it", crd: crd("tlsroutes", "v1", "v1.5.0-rc.1"), result: "ok", says: /^$/ },
  { name: "numbers, no text", crd: crd("backendtlspolicies", "v1", "v1.10.0"), result: "ok", says: /^$/ },
  {
    name: "without a bundle",
    crd: crd("tcproutes", "v1"),
    result: "warning",
    says: /its annotation gateway\.networking\.k8s\.io\/bundle-version is missing: Istio 1\.31 and later ignore/,
  },
  {
    name: "of a bundle that is no version",
    crd: crd("grpcroutes", "v1", "main"),
    result: "warning",
    says: /is "main"/,
  },
  { name: "one that Istio has no rule for", crd: crd("udproutes", "v1alpha2", "v0.1.0"), result: "ok", says: /^$/ },
];

for (const { name, crd, result, says } of ROWS) {
  Deno.test(`a CRD of the Gateway API: ${name}`, async () => {
    const finding = await found([crd]);
    assert.equal(finding.result, result, finding.text);
    assert.match(finding.text, says);
  });
}

Deno.test("CRDs of the Gateway API: the check is skipped without them, and unknown without the rights", async () => {
  const absent = await found([], { raw: { "/apis": { groups: [] } } });
  assert.deepEqual([absent.result, absent.message], ["skipped", "the cluster does not serve the Gateway API"]);
  const forbidden = async (path: RegExp) => (await found([crd("gateways", "v1")], { ...SERVED, forbidden: path }));
  for (const name of GATEWAY_CRDS) {
    const { result, missingRight } = await forbidden(new RegExp(`/customresourcedefinitions/${name}$`));
    assert.deepEqual([result, missingRight], ["unknown", "list on customresourcedefinitions"], name);
  }
  const groups = await forbidden(/^\/apis$/);
  assert.deepEqual([groups.result, groups.missingRight], ["unknown", "get on the path /apis"]);
  const { result } = await findingFor("api-gateway-crds", clusterInventory(SERVED, { namespace: "shop" }));
  assert.equal(result, "skipped");
});
