/** Both ends of a connection from pod `a` to the Service `web`, whose endpoints are pods of the same kind. */
import assert from "node:assert/strict";
import { answerOf } from "../answer.ts";
import { type Changes, fakeSnapshot } from "../connection/fake_snapshot_test.ts";
import type { ProbedSnapshot } from "../evidence.ts";
import { readConnection } from "../question/read_connection.ts";
import { savedEnds } from "../sources/sources.ts";
import { answerWith } from "../connection/answer.ts";
import { factsOf } from "../connection/facts.ts";
import { type Ends, withOtherEnds } from "./both_ends.ts";

const CLIENT = "spiffe://cluster.local/ns/shop/sa/a";

/** A pod behind an endpoint. */
function server(name: string, address: string, changes: Changes = {}): ProbedSnapshot {
  const snapshot = fakeSnapshot({ identity: "spiffe://cluster.local/ns/shop/sa/web", ...changes });
  const status = {
    podIP: address,
    conditions: [{ type: "Ready", status: changes.isReady === false ? "False" : "True" }],
  };
  const pod = JSON.parse(snapshot.parts["pod.json"].text ?? "{}");
  const text = JSON.stringify({ ...pod, metadata: { name, namespace: "shop" }, status });
  return { ...snapshot, pod: { namespace: "shop", name }, parts: { ...snapshot.parts, "pod.json": { text } } };
}

const FLAGS = { from: undefined, toPort: undefined, method: undefined, header: [], sni: undefined };

async function ask(changes: Changes, servers: readonly ProbedSnapshot[] | Ends, to = "http://web:80/") {
  const connection = readConnection({ ...FLAGS, to });
  assert.ok(connection !== undefined);
  const ends = "podAt" in servers ? servers : savedEnds(new Map(servers.map((each) => [each, undefined])));
  return await answerOf(fakeSnapshot({ identity: CLIENT, ...changes }), connection, ends);
}

const WEB = "10.0.0.9";
const NO_PROXY = { initContainers: [], containers: [{ name: "app" }] };

const SIMPLE = { ownTls: "", origin: "destination-rule/web" } as const;

/** The problem, the client, the server, the verdict, the sentence, the fix. */
const CASES: readonly (readonly [string, Changes, Changes, string, RegExp, RegExp])[] = [
  ["all is well", {}, {}, "reaches", /; pod shop\/web-1 accepts it$/, /^$/],
  ["STRICT against plain text", { tlsMode: "" }, {}, "refused", /STRICT.*the client uses plain HTTP/, /PERMISSIVE/],
  [
    "STRICT against TLS without a client certificate",
    SIMPLE,
    {},
    "refused",
    /^STRICT.*the client's proxy uses TLS without a client certificate: the server refuses the handshake: 503 UF$/,
    /^remove trafficPolicy\.tls of the DestinationRule/,
  ],
  [
    "STRICT against the user's own certificate",
    { ...SIMPLE, ownTls: "file-cert:/etc/own.pem" },
    {},
    "unknown",
    /^It is unknown whether the server accepts the client's own certificate "file-cert:\/etc\/own\.pem"/,
    /^$/,
  ],
  ["PERMISSIVE takes plain text", { tlsMode: "" }, { isPermissive: true }, "reaches", /accepts it$/, /^$/],
  [
    "mutual TLS against DISABLE",
    {},
    { isDisabled: true },
    "refused",
    /DISABLE.*the client uses mutual TLS and HTTP: the connection is closed/,
    /trafficPolicy\.tls\.mode of the DestinationRule to DISABLE/,
  ],
  [
    "a policy that lets the client in",
    {},
    { allow: { identity: CLIENT } },
    "reaches",
    /accepts it$/,
    /^$/,
  ],
  [
    "a policy of another identity",
    {},
    { allow: { identity: "spiffe://cluster.local/ns/shop/sa/other" } },
    "refused",
    /No ALLOW policy allows spiffe:\/\/cluster\.local\/ns\/shop\/sa\/a: 403/,
    /shop\/allow/,
  ],
  [
    "another trust domain",
    { identity: "spiffe://old.local/ns/shop/sa/a" },
    { allow: { identity: CLIENT } },
    "refused",
    /No ALLOW policy allows spiffe:\/\/old\.local/,
    /shop\/allow/,
  ],
  ["nothing listens", {}, { sockets: [9999] }, "refused", /No process listens on port 8080, but on 9999/, /targetPort/],
  [
    "sockets that are not known",
    {},
    { sockets: undefined },
    "unknown",
    /It is unknown whether a process listens/,
    /^$/,
  ],
  [
    "a pod without a proxy, and mutual TLS",
    {},
    { spec: NO_PROXY, config: "", rules: undefined },
    "refused",
    /The pod has no proxy, but the client uses mutual TLS: the application cannot terminate it/,
    /DISABLE/,
  ],
  [
    "a port past the server's proxy, and mutual TLS",
    {},
    { rules: "*nat\nCOMMIT\n" },
    "refused",
    /The connection bypasses the server's proxy: .*but the client uses mutual TLS: the application cannot terminate it/,
    /DISABLE/,
  ],
  ["a port past the server's proxy", { tlsMode: "" }, { rules: "*nat\nCOMMIT\n" }, "reaches", /accepts it$/, /^$/],
  [
    "the server has another name than the client expects",
    { expects: "spiffe://cluster.local/ns/shop/sa/web" },
    { identity: "spiffe://cluster.local/ns/shop/sa/thief" },
    "refused",
    /server's certificate is for .*thief, but the client expects .*sa\/web/,
    /subjectAltNames/,
  ],
  [
    "a pod that is not ready",
    {},
    { isReady: false },
    "reaches",
    /accepts it, but pod shop\/web-1 is not ready, and the client still lists it as an endpoint$/,
    /^$/,
  ],
];

for (const [name, client, own, verdict, reason, fix] of CASES) {
  Deno.test(`both ends: ${name}`, async () => {
    const answer = await ask(client, [server("web-1", WEB, own)]);
    assert.equal(answer.verdict, verdict, answer.reason);
    assert.match(answer.reason, reason);
    assert.match(answer.fix, fix);
    assert.deepEqual([...new Set(answer.stations.map(({ side, pod }) => `${side} ${pod}`))], [
      "client shop/a",
      "server shop/web-1",
    ]);
  });
}

Deno.test("both ends: the DestinationRule decides that STRICT refuses its TLS without a client certificate", async () => {
  const { decided, stations } = await ask(SIMPLE, [server("web-1", WEB)]);
  assert.deepEqual(decided, {
    kind: "DestinationRule",
    namespace: "shop",
    name: "web",
    field: "spec.trafficPolicy.tls",
  });
  assert.doesNotMatch(stations.map(({ message }) => message).join("\n"), /application's own TLS/);
  // The application's own TLS passes the client's proxy: only the application knows its certificate.
  const own = await ask({}, [server("web-1", "10.1.1.1")], "https://10.1.1.1:8080");
  assert.equal(own.verdict, "reaches", own.reason);
  assert.match(own.stations.map(({ message }) => message).join("\n"), /application's own TLS/);
});

Deno.test("both ends: endpoints that differ are groups, and the worst decides", async () => {
  const endpoints = ["10.0.0.9", "10.0.0.10", "10.0.0.11"];
  const servers = endpoints.map((address, at) => server(`web-${at}`, address, at === 2 ? { sockets: [1] } : {}));
  const { verdict, reason, stations } = await ask({ endpoints }, servers);
  assert.equal(verdict, "refused");
  assert.equal(reason, "2 of 3 reach; shop/web-2 refuses: No process listens on port 8080, but on 1: 503 UF");
  assert.deepEqual(stations.filter(({ kind }) => kind === "pod").map(({ pod }) => pod), ["shop/web-2", "shop/web-0"]);
});

Deno.test("both ends: if only some endpoints have a sidecar, each endpoint has its own TLS mode", async () => {
  const endpoints = ["10.0.0.9", "10.0.0.10"];
  const plain = { spec: NO_PROXY, config: "", rules: undefined };
  const servers = [server("web-0", "10.0.0.9", { allow: { identity: CLIENT } }), server("web-1", "10.0.0.10", plain)];
  const well = await ask({ endpoints, tlsMode: ["istio", ""] }, servers);
  assert.equal(well.verdict, "reaches", well.reason);
  assert.match(well.reason, /; 2 pods accept it$/);
  const swapped = await ask({ endpoints, tlsMode: ["", "istio"] }, servers);
  assert.equal(swapped.verdict, "refused", swapped.reason);
  const expired = await ask({ endpoints, tlsMode: ["istio", ""], expires: "2026-01-01T00:00:00Z" }, servers);
  assert.equal(expired.verdict, "refused", expired.reason);
});

Deno.test("both ends: an endpoint that was not read is unknown", async () => {
  const endpoints = Array.from({ length: 12 }, (_, at) => `10.0.1.${at}`);
  const servers = endpoints.map((address, at) => server(`web-${at}`, address));
  const all = await ask({ endpoints: endpoints.slice(0, 10) }, servers);
  assert.deepEqual([all.verdict, /; 10 pods accept it$/.test(all.reason)], ["reaches", true], all.reason);
  const some = await ask({ endpoints }, servers);
  assert.equal(some.verdict, "unknown");
  assert.match(some.reason, /; 10 pods accept it; 2 of 12 endpoints were not read$/);
  const refusing = await ask({ endpoints }, [server("web-0", "10.0.1.0", { sockets: [1] }), ...servers.slice(1)]);
  assert.equal(refusing.verdict, "refused");
  assert.match(refusing.reason, /2 of 12 endpoints were not read$/);
});

Deno.test("both ends: a missing right is the reason of an unknown verdict", async () => {
  const why = 'pods is forbidden: User "joe" cannot list resource "pods"';
  const ends = { isOneCluster: true, podAt: () => Promise.resolve({ why }), endpointsOf: () => Promise.resolve(why) };
  const { verdict, reason } = await ask({}, ends);
  assert.deepEqual([verdict, reason], ["unknown", `The pod behind ${WEB}:8080 is unknown: ${why}`]);
});

Deno.test("both ends: a successful probe proves the server's end without reading it", async () => {
  const why = "no right";
  const ends = { isOneCluster: true, podAt: () => Promise.resolve({ why }), endpointsOf: () => Promise.resolve(why) };
  const facts = factsOf(fakeSnapshot());
  const connection = readConnection({ ...FLAGS, to: "http://web:80/" });
  assert.ok(connection !== undefined);
  const own = answerWith(facts, connection);
  const probe = { request: "GET http://web:80/", isSent: true, result: "the answer is 200", unproved: [] };
  const { verdict, stations } = await withOtherEnds({ ...own, probe }, facts, connection, ends);
  assert.deepEqual([verdict, stations.at(-1)?.result], ["reaches", "unknown"]);
  const failed = { ...own, verdict: "unknown", reason: "The probe got no answer", probe } as const;
  assert.equal(await withOtherEnds(failed, facts, connection, ends), failed);
});

Deno.test("both ends: an address outside of the cluster has no server end", async () => {
  const outside = { why: "no pod has the address", isOutside: true };
  const ends = {
    isOneCluster: true,
    podAt: () => Promise.resolve(outside),
    endpointsOf: () => Promise.resolve("none"),
  };
  const past = await ask({ rules: "*nat\nCOMMIT\n" }, ends, "http://10.1.1.1:81");
  assert.equal(past.verdict, "bypasses");
  const passed = await ask({}, ends, "http://10.1.1.1:81");
  assert.match(passed.reason, /^Envoy connects to 10\.1\.1\.1:81 without service discovery: it is unknown/);
  assert.equal((await ask({}, ends)).verdict, "unknown");
});

Deno.test("both ends: a server in STRICT mode refuses a client without a proxy", async () => {
  const client = { spec: NO_PROXY, config: "", rules: undefined };
  const found = savedEnds(new Map([[server("web-1", WEB), undefined]]));
  const ends = { ...found, endpointsOf: () => Promise.resolve([`${WEB}:8080`]) };
  const refused = await ask(client, ends);
  assert.equal(refused.verdict, "refused", refused.reason);
  assert.match(refused.reason, /STRICT.*the client uses plain TCP, because the client's pod has no proxy/);
  assert.equal(refused.fix, "find out why shop/a has no proxy: kubectl mesh check injection pod/a -n shop");
  assert.equal(refused.decided?.kind, "PeerAuthentication");
  const missing = await ask(client, {
    ...found,
    endpointsOf: () => Promise.resolve("the Service shop/web does not exist"),
  });
  assert.equal(missing.verdict, "unknown");
  assert.match(missing.reason, /the Service shop\/web does not exist/);
});

Deno.test("both ends: the pod at a passthrough address is read", async () => {
  const answer = await ask({}, [server("web-1", "10.1.1.1", { isPermissive: true })], "http://10.1.1.1:8080");
  assert.deepEqual([answer.verdict, answer.endpoints[0]?.address], ["reaches", "10.1.1.1:8080"], answer.reason);
  assert.equal(answer.reason, "It continues to 10.1.1.1:8080; pod shop/web-1 accepts it");
});

Deno.test("both ends: a policy about IP addresses is judged by the client's addresses, else unknown", async () => {
  const servers = [server("web-1", WEB, { allow: { source_ip: "10.0.0.0" } })];
  const dualStack = { status: { podIP: "2001:db8::8", podIPs: [{ ip: "2001:db8::8" }, { ip: "10.0.0.8" }] } };
  const none = { status: {} };
  for (const [{ status }, verdict] of [[dualStack, "reaches"], [none, "unknown"]] as const) {
    const connection = readConnection({ ...FLAGS, to: "http://web:80/" });
    assert.ok(connection !== undefined);
    const client = fakeSnapshot({ identity: CLIENT });
    const pod = JSON.parse(client.parts["pod.json"].text ?? "{}");
    const parts = { ...client.parts, "pod.json": { text: JSON.stringify({ ...pod, status }) } };
    const ends = savedEnds(new Map(servers.map((each) => [each, undefined])));
    const answer = await answerOf({ ...client, parts }, connection, ends);
    assert.equal(answer.verdict, verdict, answer.reason);
  }
});

Deno.test("both ends: nothing is read if the client's end refuses the connection", async () => {
  const ends = {
    isOneCluster: true,
    podAt: () => Promise.reject(new Error("read")),
    endpointsOf: () => Promise.reject(new Error("read")),
  };
  assert.equal((await ask({ endpoints: [] }, ends)).verdict, "refused");
});
