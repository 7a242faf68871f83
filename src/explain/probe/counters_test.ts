import assert from "node:assert/strict";
import { countedHosts, countedListeners } from "./counters.ts";
import type { Counted } from "../evidence.ts";

/** Requests by cluster; every cluster has one host. */
function counted(requests: Readonly<Record<string, number>>, listeners = ""): Counted {
  const cluster_statuses = Object.entries(requests).map(([name, value]) => ({
    name,
    host_statuses: [{
      address: { socket_address: { address: "10.0.0.9", port_value: 80 } },
      stats: [{ name: "rq_total", value: String(value) }],
    }],
  }));
  return { clusters: { text: JSON.stringify({ cluster_statuses }) }, listeners: { text: listeners } };
}

Deno.test("countedHosts(): hosts with new requests, except inbound clusters and the proxy's own clusters", () => {
  const before = counted({ a: 1, b: 7, "inbound|80||": 1, "xds-grpc": 1 });
  const after = counted({ a: 2, b: 7, "inbound|80||": 9, "xds-grpc": 2, new: 1 });
  assert.deepEqual(countedHosts({ before, after }, "outbound"), [
    { cluster: "a", address: "10.0.0.9:80" },
    { cluster: "new", address: "10.0.0.9:80" },
  ]);
  assert.deepEqual(countedHosts({ before, after }, "inbound"), [{ cluster: "inbound|80||", address: "10.0.0.9:80" }]);
  const absent = { ...after, clusters: { absent: "no-answer", message: "x" } } as const;
  assert.equal(countedHosts({ before, after: absent }, "outbound"), undefined);
});

Deno.test("countedListeners(): listeners with new connections, except workers and inbound ports", () => {
  const lines = (count: number) =>
    ["0.0.0.0_80", "0.0.0.0_80.worker_0", "0.0.0.0_15006", "admin", "admin.main_thread"].map((name) =>
      `listener.${name}.downstream_cx_total: ${count}`
    ).join("\n") + "\nlistener.[__]_9080.downstream_cx_total: 3\n";
  assert.deepEqual(countedListeners(counted({}, lines(1)), counted({}, lines(2))), ["0.0.0.0_80"]);
  assert.equal(countedListeners(counted({}), counted({})), undefined);
});
