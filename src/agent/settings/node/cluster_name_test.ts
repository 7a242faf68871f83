import assert from "node:assert/strict";
import type { ValueMap } from "../../../base/value.ts";
import { clusterName } from "./cluster_name.ts";

const CANONICAL = "service.istio.io/canonical-name";
const RECOMMENDED = "app.kubernetes.io/name";

function name(proxyConfig: ValueMap, labels: Record<string, string> = {}, workloadName = "", namespace = "ns"): string {
  return clusterName({ proxyConfig, labels: new Map(Object.entries(labels)), workloadName, namespace });
}

Deno.test("clusterName: an explicit name, else labels, workload, namespace", () => {
  assert.equal(name({ serviceCluster: "x" }, { app: "a" }), "x");
  for (const proxyConfig of [{ serviceCluster: "istio-proxy" }, { serviceCluster: "" }, {}]) {
    assert.equal(name(proxyConfig, { app: "a", [RECOMMENDED]: "r", [CANONICAL]: "c" }), "a.ns");
    assert.equal(name(proxyConfig, { [RECOMMENDED]: "r", [CANONICAL]: "c" }), "r.ns");
    assert.equal(name(proxyConfig, { [CANONICAL]: "c" }), "c.ns");
    assert.equal(name(proxyConfig, {}, "w"), "w.ns");
    assert.equal(name(proxyConfig), "istio-proxy.ns");
    assert.equal(name(proxyConfig, {}, "", ""), "istio-proxy");
  }
});

Deno.test("clusterName: by tracingServiceName", () => {
  const labels = { app: "a", [RECOMMENDED]: "r", [CANONICAL]: "c" };
  assert.equal(name({ tracingServiceName: "APP_LABEL_AND_NAMESPACE" }, labels), "a.ns");
  assert.equal(name({ tracingServiceName: "CANONICAL_NAME_ONLY" }, labels), "c");
  assert.equal(name({ tracingServiceName: "CANONICAL_NAME_ONLY" }, { app: "a", [CANONICAL]: "" }), "a");
  assert.equal(name({ tracingServiceName: "CANONICAL_NAME_ONLY" }, {}, "w"), "w");
  assert.equal(name({ tracingServiceName: "CANONICAL_NAME_ONLY" }), "istio-proxy.ns");
  assert.equal(name({ tracingServiceName: "CANONICAL_NAME_AND_NAMESPACE" }, labels), "c.ns");
  assert.equal(name({ tracingServiceName: "CANONICAL_NAME_AND_NAMESPACE" }, labels, "", ""), "c");
});
