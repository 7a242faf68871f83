import assert from "node:assert/strict";
import { summaryPicture } from "../picture/summary_picture.ts";
import { terminalText } from "../picture/terminal.ts";
import { type AmbientChanges, fakeAmbient } from "../ztunnel/fake_ambient_test.ts";
import { podSummary } from "./pod_summary.ts";

const CATALOG = { name: "catalog-1", address: "10.0.0.9" };
const STRICT = { name: "strict", namespace: "shop", scope: "WorkloadSelector", action: "Deny", rules: [] };
const LOGGED = { name: "logged", namespace: "shop", scope: "Namespace", action: "Allow", rules: [], dryRun: true };

Deno.test("a pod in ambient mode is reported as such, without a finding about a missing sidecar", () => {
  const summary = podSummary(fakeAmbient({ ...CATALOG, waypoint: "/10.96.0.50", policies: [STRICT, LOGGED] }));
  const { ambient, traffic, configuration, certificate, findings } = summary;
  assert.deepEqual(ambient, {
    workload: "Kubernetes//Pod/shop/catalog-1",
    tunnel: true,
    waypoint: "",
    network: "",
    services: ["catalog.shop.svc.cluster.local by 10.96.0.50"],
    policies: ["DENY shop/strict", "ALLOW shop/logged (only logged)"],
    result: "ok",
    message: "the ztunnel of its node accepts HBONE tunnels for the pod",
  });
  assert.deepEqual([traffic.mode, configuration.result, findings], ["ztunnel", "ok", []]);
  assert.equal(certificate.identity, "spiffe://cluster.local/ns/shop/sa/catalog");
  const text = terminalText(summaryPicture(summary), { columns: 100, color: false, ascii: true });
  assert.match(text, /every TCP connection -+> ztunnel 15001 -+> mesh/);
  assert.match(text, /policies +DENY shop\/strict/);
  assert.doesNotMatch(text, /sidecar/);
});

const OTHERS: readonly (readonly [string, AmbientChanges, string, RegExp])[] = [
  ["no dump", { dump: undefined }, "unknown", /is unknown: the snapshot does not contain ztunnel\.json/],
  ["another node's dump", { dump: { workloads: [] } }, "error", /does not know this pod/],
  ["plain TCP", { workload: { protocol: "TCP" } }, "warning", /gets no HBONE tunnels/],
  ["unhealthy", { workload: { status: "Unhealthy" } }, "warning", /gets no traffic/],
];

for (const [name, changes, result, message] of OTHERS) {
  Deno.test(`a pod in ambient mode: ${name}`, () => {
    const { ambient } = podSummary(fakeAmbient({ ...CATALOG, ...changes }));
    assert.equal(ambient?.result, result);
    assert.match(ambient.message, message);
  });
}
