/** Connections through gateways, and to other clusters of the mesh. */
import assert from "node:assert/strict";
import { re2Library } from "../../golang/re2.ts";
import { answerOf } from "../answer.ts";
import { type Changes, fakeSnapshot } from "../connection/fake_snapshot_test.ts";
import type { ProbedSnapshot } from "../evidence.ts";
import { readConnection } from "../question/read_connection.ts";
import { savedEnds } from "../sources/sources.ts";
import type { Ends } from "./both_ends.ts";
import { serverEnd } from "./server_end.ts";

const FLAGS = { from: undefined, toPort: undefined, method: undefined, header: [], sni: undefined };

async function ask(changes: Changes, ends: Ends, to = "http://web:80/") {
  const connection = readConnection({ ...FLAGS, to });
  assert.ok(connection !== undefined);
  return await answerOf(fakeSnapshot(changes), connection, ends);
}

function named(snapshot: ProbedSnapshot, name: string, podIP: string): ProbedSnapshot {
  const pod = JSON.parse(snapshot.parts["pod.json"].text ?? "{}");
  const status = { podIP, conditions: [{ type: "Ready", status: "True" }] };
  const text = JSON.stringify({ ...pod, metadata: { name, namespace: "shop" }, status });
  return { ...snapshot, pod: { namespace: "shop", name }, parts: { ...snapshot.parts, "pod.json": { text } } };
}

/** A gateway at 10.0.0.9 without redirect rules. Its Envoy listens on port 8080 and forwards to the Service `web`. */
function gateway(changes: Changes = {}): ProbedSnapshot {
  const own = { endpoints: ["10.0.0.20"], ...changes };
  const config = fakeSnapshot(own).parts["config_dump.json"].text ?? "";
  return named(
    fakeSnapshot({
      ...own,
      config: config.replaceAll('"port_value":15006', '"port_value":8080')
        .replaceAll('"cluster":"inbound|8080||"', '"cluster":"outbound|80||web.shop.svc.cluster.local"'),
      spec: { initContainers: [], containers: [{ name: "istio-proxy" }] },
      rules: undefined,
    }),
    "gateway-1",
    "10.0.0.9",
  );
}

function endsOf(...snapshots: readonly ProbedSnapshot[]): Ends {
  return savedEnds(new Map(snapshots.map((each) => [each, undefined])));
}

Deno.test("a gateway's stations come before the stations of the next pod", async () => {
  const answer = await ask({}, endsOf(gateway(), named(fakeSnapshot(), "web-1", "10.0.0.20")));
  assert.equal(answer.verdict, "reaches");
  const own = (pod: string) => answer.stations.filter((each) => each.pod === pod).map(({ kind }) => kind);
  assert.deepEqual(own("shop/gateway-1"), [
    "pod",
    "kernel",
    "listener",
    "filter-chain",
    "tls",
    "route",
    "cluster",
    "endpoint",
    "tls",
  ]);
  assert.deepEqual(own("shop/web-1").slice(0, 3), ["pod", "kernel", "listener"]);
  assert(answer.stations.every(({ side, pod }) => side === (pod === "shop/a" ? "client" : "server")));
});

/** The problem behind the gateway, the gateway, the server, the verdict, the sentence. */
const CASES: readonly (readonly [string, Changes, Changes, string, RegExp])[] = [
  ["the gateway speaks plain text to STRICT", { tlsMode: "" }, {}, "refused", /STRICT.*the client uses plain HTTP/],
  ["nothing listens behind it", {}, { sockets: [9090] }, "refused", /no process listens on port 8080/],
  ["the gateway's cluster has no endpoints", { endpoints: [] }, {}, "refused", /no endpoints: 503 UH/],
  ["the gateway's certificate has expired", { expires: "2026-01-01T00:00:00Z" }, {}, "refused", /valid workload cert/],
];

for (const [name, own, server, verdict, sentence] of CASES) {
  Deno.test(`behind a gateway: ${name}`, async () => {
    const answer = await ask({}, endsOf(gateway(own), named(fakeSnapshot(server), "web-1", "10.0.0.20")));
    assert.deepEqual([answer.verdict, sentence.test(answer.reason)], [verdict, true], answer.reason);
  });
}

Deno.test("a connection through too many gateways is unknown", async () => {
  const answer = await ask({}, endsOf(gateway({ endpoints: ["10.0.0.9"] })));
  assert(answer.stations.length < 60, String(answer.stations.length));
  assert.equal(answer.verdict, "unknown");
  assert.match(answer.reason, /it goes through more than 3 gateways$/);
});

Deno.test("an inbound connection to a gateway's own port is followed too", async () => {
  const connection = readConnection({ ...FLAGS, to: undefined, from: "10.9.9.9", toPort: 8080 });
  assert.ok(connection !== undefined);
  const { verdict, stations, endpoints } = await answerOf(gateway(), connection);
  assert.deepEqual([verdict, endpoints.map(({ address }) => address)], ["reaches", ["10.0.0.20:8080"]]);
  assert.match(
    stations[0]?.message ?? "",
    /the pod has no redirect rules: the connection arrives at port 8080 of its Envoy/,
  );
});

/** The endpoint is in another cluster, but a pod in this cluster has the same address. */
const ONE_CLUSTER: Ends = { ...endsOf(named(fakeSnapshot(), "other-1", "10.0.0.9")), isOneCluster: true };

Deno.test("an endpoint in another cluster and the gateway of another network have different reasons", async () => {
  const rows = [
    [
      "web;shop;web;v1;west",
      /10\.0\.0\.9:8080 is unknown: it is in the cluster "west", and only this cluster is read/,
    ],
    [";;;;west", /it is the gateway to the network of the cluster "west", and only this cluster is read/],
  ] as const;
  for (const [workload, sentence] of rows) {
    const answer = await ask({ workload, clusterId: "east" }, ONE_CLUSTER);
    assert.deepEqual([answer.verdict, sentence.test(answer.reason)], ["unknown", true], answer.reason);
  }
  const own = await ask({ workload: "web;shop;web;v1;east", clusterId: "east" }, ONE_CLUSTER);
  assert.equal(own.verdict, "reaches");
  const saved = await ask({ workload: "web;shop;web;v1;west", clusterId: "east" }, {
    ...ONE_CLUSTER,
    isOneCluster: false,
  });
  assert.equal(saved.verdict, "reaches");
  assert.match(saved.stations.find(({ kind }) => kind === "endpoint")?.message ?? "", /in the cluster "west"/);
});

Deno.test("a tunnel that ends in a waypoint's Envoy is unknown", async () => {
  const connection = readConnection({ ...FLAGS, to: "http://web:80/" });
  assert.ok(connection !== undefined);
  await re2Library.loaded();
  const peer = { tls: "mutual", isTunnel: true, isHttp: false, sni: "", identity: undefined, expects: [] } as const;
  const client = { connection, address: "10.0.0.8", peer, roots: new Set<string>(), issuers: new Set<string>() };
  const snapshot = gateway();
  const { verdict, reason } = serverEnd({ ...client, version: "" }, "10.0.0.9:15008", { snapshot });
  assert.equal(verdict, "unknown");
  assert.match(reason, /tunneled connection through the waypoint or gateway is unknown/);
});

Deno.test("for TLS passthrough in a gateway, the server's certificate and pods are unknown", async () => {
  const snapshot = gateway();
  const text = (snapshot.parts["config_dump.json"].text ?? "")
    .replaceAll("outbound|80||web.shop", "outbound_.80_._.web.shop");
  const passing = { ...snapshot, parts: { ...snapshot.parts, "config_dump.json": { text } } };
  const { verdict, reason } = await ask({ expects: "spiffe://other" }, endsOf(passing));
  assert.equal(verdict, "unknown");
  assert.match(reason, /forwards TLS unchanged/);
});
