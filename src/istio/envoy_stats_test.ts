import assert from "node:assert/strict";
import { configProblem, isRejected, parseStats, QUERIES, serverProblem, workersProblem } from "./envoy_stats.ts";

const CONFIG_CASES = [
  {
    name: "nothing came",
    stats: "",
    problem: "config not received from XDS server (is Istiod running?): " +
      "cds updates: 0 successful, 0 rejected; lds updates: 0 successful, 0 rejected",
  },
  {
    name: "nothing but a rejected update came",
    stats: "listener_manager.lds.update_rejected: 1",
    problem: "config not received from XDS server (is Istiod running?): " +
      "cds updates: 0 successful, 0 rejected; lds updates: 0 successful, 1 rejected",
  },
  {
    name: "clusters alone",
    stats: "cluster_manager.cds.update_success: 1",
    problem: "config not fully received from XDS server: " +
      "cds updates: 1 successful, 0 rejected; lds updates: 0 successful, 0 rejected",
  },
  {
    name: "listeners alone",
    stats: "listener_manager.lds.update_success: 1",
    problem: "config not fully received from XDS server: " +
      "cds updates: 0 successful, 0 rejected; lds updates: 1 successful, 0 rejected",
  },
  {
    name: "rejected clusters",
    stats: "cluster_manager.cds.update_rejected: 1\nlistener_manager.lds.update_success: 1",
    problem: "config received from XDS server, but was rejected: " +
      "cds updates: 0 successful, 1 rejected; lds updates: 1 successful, 0 rejected",
  },
  {
    name: "rejected listeners",
    stats: "cluster_manager.cds.update_success: 1\nlistener_manager.lds.update_rejected: 1",
    problem: "config received from XDS server, but was rejected: " +
      "cds updates: 1 successful, 0 rejected; lds updates: 0 successful, 1 rejected",
  },
  {
    name: "both, and rejected ones too",
    stats: "cluster_manager.cds.update_success: 1\nlistener_manager.lds.update_success: 1\n" +
      "listener_manager.lds.update_rejected: 4",
    problem: undefined,
  },
];

for (const { name, stats, problem } of CONFIG_CASES) {
  Deno.test(`configProblem(): ${name}`, () => assert.equal(configProblem(parseStats(stats)), problem));
}

Deno.test("serverProblem() and workersProblem() name the state", () => {
  const state = (value: number) => serverProblem(new Map([["server.state", value]]));
  assert.equal(state(0), undefined);
  assert.equal(state(1), "server is not live, current state is: DRAINING");
  assert.equal(state(2), "server is not live, current state is: PRE_INITIALIZING");
  assert.equal(state(3), "server is not live, current state is: INITIALIZING");
  assert.equal(state(9), "server is not live, current state is: UNKNOWN");
  assert.equal(serverProblem(new Map()), "server.state is not yet updated");
  assert.equal(workersProblem(new Map([["listener_manager.workers_started", 1]])), undefined);
  assert.equal(workersProblem(new Map([["listener_manager.workers_started", 0]])), "workers have not yet started");
  assert.equal(workersProblem(new Map()), "listener_manager.workers_started is not yet updated");
});

Deno.test("parseStats() ignores values that are not numbers", () => {
  const stats = parseStats('a.b: 12\nc.d: "text"\ne.f: P0(1,2)\ng.h: 0\nnothing\n');
  assert.deepEqual([...stats], [["a.b", 12], ["g.h", 0]]);
});

Deno.test("isRejected() checks clusters and listeners", () => {
  assert.equal(isRejected(parseStats("cluster_manager.cds.update_rejected: 1")), true);
  assert.equal(isRejected(parseStats("listener_manager.lds.update_rejected: 2")), true);
  assert.equal(isRejected(parseStats("listener_manager.lds.update_rejected: 0")), false);
});

Deno.test("the filters are pilot-agent's", () => {
  assert.equal(
    QUERIES.updates.filter,
    String.raw`^(cluster_manager\.cds|listener_manager\.lds)\.(update_success|update_rejected)$`,
  );
  assert.equal(QUERIES.state.filter, String.raw`^(server\.state|listener_manager\.workers_started)`);
});
