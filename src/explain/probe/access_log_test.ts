import assert from "node:assert/strict";
import { lineOf } from "./access_log.ts";

const MARK = "5f2e7c1a";
const OWN = "10.1.0.9:4011";
const CLUSTER = "outbound|9080|v1|reviews.shop.svc.cluster.local";

/** A line in Istio's default text format. */
function text(own = OWN, cluster = `${CLUSTER};`): string {
  return `[2026-01-02T03:04:05.678Z] "GET /api HTTP/1.1" 503 UF,URX via_upstream - "-" 0 5 3 2 "-" "curl" "${MARK}" ` +
    `"reviews:9080" "10.1.2.3:9080" ${cluster} 10.1.0.9:5000 10.96.0.9:9080 ${own} - default\n`;
}

Deno.test("lineOf() reads Istio's text", () => {
  assert.deepEqual(lineOf(`noise\n${text()}`, { mark: MARK, own: OWN, direction: "outbound" }), {
    chain: undefined,
    route: "default",
    cluster: CLUSTER,
    host: "10.1.2.3:9080",
    outcome: "503 UF,URX",
    flags: "UF,URX",
    details: "via_upstream",
  });
});

Deno.test("lineOf() reads Istio's JSON", () => {
  const line = { upstream_cluster: CLUSTER, response_code: 200, response_flags: "-", downstream_remote_address: OWN };
  const found = lineOf(JSON.stringify({ ...line, request_id: MARK, route_name: null }), {
    mark: MARK,
    own: OWN,
    direction: "outbound",
  });
  assert.deepEqual([found?.cluster, found?.outcome, found?.flags, found?.route], [
    CLUSTER,
    "200",
    undefined,
    undefined,
  ]);
});

Deno.test("lineOf() reads the inbound line of an inbound request, and why Envoy refused it", () => {
  const denied = text(OWN, "inbound|9080||").replace(
    "503 UF,URX via_upstream",
    "403 - rbac_access_denied_matched_policy[none]",
  );
  const { cluster, outcome, details } = lineOf(denied, { mark: MARK, own: OWN, direction: "inbound" }) ?? {};
  assert.deepEqual([cluster, outcome, details], ["inbound|9080||", "403", "rbac_access_denied_matched_policy[none]"]);
});

const OTHERS: Readonly<Record<string, string>> = {
  "of another request": text().replace(MARK, "x").replace(OWN, "10.1.0.9:4012"),
  "of a client whose port begins alike": text("10.1.0.9:40112").replace(MARK, "x"),
  "of the way back into the pod": text(OWN, "inbound|9080||"),
  "in a form of its own": `${MARK} ${CLUSTER} "a" b c\n`,
};

for (const [name, log] of Object.entries(OTHERS)) {
  Deno.test(`lineOf() takes no line ${name}`, () =>
    assert.equal(lineOf(log, { mark: MARK, own: OWN, direction: "outbound" }), undefined));
}
