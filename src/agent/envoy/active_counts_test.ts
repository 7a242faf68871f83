import assert from "node:assert/strict";
import { clientConnections, type Count, forwardedRequests } from "./active_counts.ts";

function totalOf(count: Count, text: string): number {
  for (const line of text.split("\n")) count.add(line);
  return count.total();
}

/** As Envoy 1.40 prints them. */
const STATISTICS = `http.admin.downstream_cx_active: 1
http.main.downstream_cx_active: 1
listener.127.0.0.1_18080.downstream_cx_active: 1
listener.127.0.0.1_18080.worker_0.downstream_cx_active: 1
listener.10.0.0.7_15021.downstream_cx_active: 30
listener.[fd00__7]_80.downstream_cx_active: 7
listener.[__1]_15090.downstream_cx_active: 1
listener.[__1]_15090.worker_0.downstream_cx_active: 1
listener.[__]_15021.downstream_cx_active: 1
listener.0.0.0.0_15090.downstream_cx_active: 2
listener.0.0.0.0_15006.downstream_cx_active: 100
listener.[__]_15006.downstream_cx_active: 200
listener.envoy_internal_connect_originate.downstream_cx_active: 5
listener.admin.downstream_cx_active: 1
listener.admin.main_thread.downstream_cx_active: 1`;

Deno.test("clientConnections() excludes workers, internal and own listeners, also on IPv6", () => {
  assert.equal(totalOf(clientConnections([15021, 15090]), STATISTICS), 338);
  assert.equal(totalOf(clientConnections([]), STATISTICS), 342);
});

Deno.test("clientConnections() distinguishes missing statistics from no connections", () => {
  assert.equal(totalOf(clientConnections([15021]), ""), -1);
  assert.equal(totalOf(clientConnections([15021]), "http.admin.downstream_cx_active: 1"), -1);
  assert.equal(totalOf(clientConnections([15021]), "listener.[__]_15021.downstream_cx_active: 3"), 0);
});

/** As Envoy 1.40 prints them, shortened. */
const CLUSTERS = `xds-grpc::observability_name::xds-grpc
xds-grpc::added_via_api::false
xds-grpc::./etc/istio/proxy/XDS::rq_active::1
inbound|80||::added_via_api::true
inbound|80||::127.0.0.1:80::cx_active::3
inbound|80||::127.0.0.1:80::rq_active::2
inbound|80||::127.0.0.1:80::rq_pending_active::1
inbound|80||::127.0.0.1:80::rq_total::77
outbound|80||web::added_via_api::true
outbound|80||web::[fd00::7]:80::rq_active::4
zipkin::added_via_api::false
zipkin::10.0.0.1:9411::rq_active::9`;

Deno.test("forwardedRequests() excludes the bootstrap's clusters", () => {
  assert.equal(totalOf(forwardedRequests(), CLUSTERS), 7);
  assert.equal(totalOf(forwardedRequests(), "agent::added_via_api::false\nagent::127.0.0.1:15020::rq_active::1"), 0);
  assert.equal(totalOf(forwardedRequests(), ""), -1);
});
