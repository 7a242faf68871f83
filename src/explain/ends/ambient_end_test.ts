/** Connections from and to pods in ambient mode. */
import assert from "node:assert/strict";
import { answerOf } from "../answer.ts";
import { type Changes, fakeSnapshot } from "../connection/fake_snapshot_test.ts";
import { readConnection } from "../question/read_connection.ts";
import type { Snapshot } from "../snapshot/snapshot.ts";
import { savedEnds } from "../sources/sources.ts";
import { type AmbientChanges, fakeAmbient, fakeZtunnel } from "../ztunnel/fake_ambient_test.ts";

const FLAGS = { from: undefined, toPort: undefined, method: undefined, header: [], sni: undefined };

async function ask(client: Snapshot, servers: readonly Snapshot[], to: string) {
  const connection = readConnection({ ...FLAGS, to });
  assert.ok(connection !== undefined);
  return await answerOf(client, connection, savedEnds(new Map(servers.map((each) => [each, undefined]))));
}

const SERVER = { name: "catalog-1", address: "10.0.0.9" };
const STRICT = {
  name: "strict",
  namespace: "shop",
  scope: "WorkloadSelector",
  action: "Deny",
  rules: [[[{ notPrincipals: [{ Presence: {} }] }]]],
};
const ONLY_CART = {
  name: "only-cart",
  namespace: "shop",
  scope: "Namespace",
  action: "Allow",
  rules: [[[{ principals: [{ Exact: "cluster.local/ns/shop/sa/cart" }] }]]],
};

/** A sidecar's connection to a pod in ambient mode: the client, the server, the verdict, the sentence. */
const TO_AMBIENT: readonly (readonly [string, Changes, AmbientChanges, string, RegExp])[] = [
  ["by a tunnel", { tunnel: {} }, {}, "reaches", /; pod shop\/catalog-1 accepts it$/],
  ["STRICT takes a tunnel", { tunnel: {} }, { policies: [STRICT] }, "reaches", /accepts it$/],
  [
    "an identity that is let in",
    { tunnel: {}, identity: "spiffe://cluster.local/ns/shop/sa/cart" },
    { policies: [ONLY_CART] },
    "reaches",
    /accepts it$/,
  ],
  [
    "another identity",
    { tunnel: {}, identity: "spiffe://cluster.local/ns/shop/sa/web" },
    { policies: [ONLY_CART] },
    "refused",
    /^The AuthorizationPolicy shop\/only-cart refuses spiffe:.*sa\/web$/,
  ],
  ["plain text", { tlsMode: "" }, {}, "reaches", /accepts it$/],
  [
    "plain text against STRICT",
    { tlsMode: "" },
    { policies: [STRICT] },
    "refused",
    /shop\/strict refuses a client without mutual TLS/,
  ],
  ["mutual TLS without a tunnel", {}, {}, "refused", /ztunnel terminates mutual TLS only in tunnels/],
  ["nothing listens", { tunnel: {} }, { listens: [9090] }, "refused", /no process listens on port 8080/i],
  [
    "without ztunnel's dump",
    { tunnel: {} },
    { dump: undefined },
    "unknown",
    /state of the ztunnel of its node is unknown/,
  ],
];

for (const [name, client, server, verdict, sentence] of TO_AMBIENT) {
  Deno.test(`a sidecar to a pod in ambient mode: ${name}`, async () => {
    const answer = await ask(fakeSnapshot(client), [fakeAmbient({ ...SERVER, ...server })], "http://web:80/");
    assert.deepEqual([answer.verdict, sentence.test(answer.reason)], [verdict, true], answer.reason);
  });
}

Deno.test("a client without a proxy to a pod in ambient mode: STRICT refuses it, and the fix finds out why", async () => {
  const client = fakeSnapshot({
    spec: { initContainers: [], containers: [{ name: "app" }] },
    config: "",
    rules: undefined,
  });
  const connection = readConnection({ ...FLAGS, to: "http://web:80/" });
  assert.ok(connection !== undefined);
  const policies = [{ ...STRICT, name: "converted_peer_authentication_strict", scope: "Namespace" }];
  const found = savedEnds(new Map([[fakeAmbient({ ...SERVER, policies }), undefined]]));
  const ends = { ...found, endpointsOf: () => Promise.resolve(["10.0.0.9:8080"]) };
  const { verdict, reason, fix } = await answerOf(client, connection, ends);
  assert.equal(verdict, "refused", reason);
  assert.match(reason, /mode STRICT refuses a client without mutual TLS: the client's pod has no proxy$/);
  assert.equal(fix, "find out why shop/a has no proxy: kubectl mesh check injection pod/a -n shop");
});

/** A connection of a pod in ambient mode: a name, the changes, the question, the verdict, the sentence. */
const FROM_AMBIENT: readonly (readonly [string, AmbientChanges, string, string, RegExp])[] = [
  ["by a tunnel", {}, "catalog:80", "unknown", /it is unknown whether its certificate is valid/],
  ["to a pod outside of the mesh", { workload: { protocol: "TCP" } }, "catalog:80", "reaches", /plain text/],
  ["to an unhealthy pod", { workload: { status: "Unhealthy" } }, "catalog:80", "refused", /None of the 1 endpoints/],
  [
    "to an unhealthy pod that is published",
    {
      workload: { status: "Unhealthy", protocol: "TCP" },
      loadBalancer: { mode: "Standard", healthPolicy: "AllowAll" },
    },
    "catalog:80",
    "reaches",
    /plain text/,
  ],
  [
    "only to near pods",
    { workload: { protocol: "TCP" }, loadBalancer: { mode: "Strict", healthPolicy: "OnlyHealthy" } },
    "catalog:80",
    "unknown",
    /it is unknown which of them internalTrafficPolicy allows/,
  ],
  [
    "to the address itself",
    { loadBalancer: { mode: "Passthrough" } },
    "catalog:80",
    "unknown",
    /is a passthrough service without endpoints/,
  ],
  [
    "without a certificate",
    { state: "Unavailable: no CA" },
    "catalog:80",
    "refused",
    /certificate.*Unavailable: no CA/,
  ],
  ["a port that the service has not", {}, "catalog:81", "unknown", /has only the ports 80/],
  ["an unknown address", {}, "10.7.7.7:80", "unknown", /knows no service or workload at 10\.7\.7\.7:80/],
  ["an unknown name", {}, "catalgo:80", "unknown", /catalgo/],
  [
    "without ztunnel's dump",
    { dump: undefined },
    "10.96.0.9:80",
    "unknown",
    /state of the ztunnel of its node is unknown/,
  ],
];

for (const [name, changes, to, verdict, sentence] of FROM_AMBIENT) {
  Deno.test(`out of a pod in ambient mode: ${name}`, async () => {
    const answer = await ask(fakeAmbient(changes), [fakeAmbient({ ...changes, ...SERVER })], to);
    assert.deepEqual([answer.verdict, sentence.test(answer.reason)], [verdict, true], answer.reason);
  });
}

Deno.test("a connection to a Service is tunneled to its waypoint, named by address or by host", async () => {
  for (const waypoint of ["/10.96.0.50", "shop/waypoint.shop.svc.cluster.local"]) {
    const { endpoints, stations } = await ask(fakeAmbient({ waypoint }), [], "catalog:80");
    assert.deepEqual(endpoints.map(({ address }) => address), ["10.0.0.50:15008"]);
    const ztunnel = stations.find(({ kind }) => kind === "ztunnel");
    assert.match(
      ztunnel?.message ?? "",
      /has the waypoint waypoint\.shop\.svc\.cluster\.local: the tunnel ends at the waypoint/,
    );
  }
});

Deno.test("a connection to a pod's address goes to the pod's waypoint", async () => {
  const workload = { waypoint: { destination: "/10.96.0.50" } };
  const ends = async (to: string) => (await ask(fakeAmbient({ workload }), [], to)).endpoints[0]?.address;
  assert.deepEqual([await ends("10.0.0.9:8080"), await ends("catalog:80")], ["10.0.0.50:15008", "10.0.0.9:8080"]);
});

Deno.test("a pod of another network is reached through the gateway of its network", async () => {
  const workload = { network: "west", networkGateway: { destination: "/192.0.2.7" } };
  const dump = fakeZtunnel({ workload });
  const { endpoints } = await ask(fakeAmbient({ dump }), [], "catalog:80");
  assert.deepEqual(endpoints.map(({ address }) => address), ["192.0.2.7:15008"]);
});
