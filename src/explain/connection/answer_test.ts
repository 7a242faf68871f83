/** Problems in a pod, with the sentence and the field that `explain` prints. */
import assert from "node:assert/strict";
import { type Changes, fakeSnapshot } from "./fake_snapshot_test.ts";
import { readConnection } from "../question/read_connection.ts";
import { answerOf } from "../answer.ts";

async function ask(changes: Changes, asked: string, header: readonly string[] = []) {
  const [to, toPort] = asked.startsWith("from ") ? [undefined, 8080] : [asked, undefined];
  const from = to === undefined ? asked.slice("from ".length) : undefined;
  const connection = readConnection({ to, from, toPort, method: undefined, header, sni: undefined });
  assert.ok(connection !== undefined);
  return await answerOf(fakeSnapshot(changes), connection);
}

const IN = "from 10.9.9.9";
const RULES = "*nat\n-A PREROUTING -p tcp -j ISTIO_INBOUND\n-A OUTPUT -j ISTIO_OUTPUT\n";
const CAPTURE_ALL =
  "-A ISTIO_INBOUND -p tcp -j REDIRECT --to-ports 15006\n-A ISTIO_OUTPUT -p tcp -j REDIRECT --to-ports 15001\nCOMMIT\n";

const CONFIG = fakeSnapshot().parts["config_dump.json"].text ?? "";
/** The service comes from a ServiceEntry. */
const OUTSIDE = CONFIG.replaceAll("web.shop.svc.cluster.local", "web.shop.example.com");
const WITHOUT_ADDRESS = CONFIG.replaceAll('"10.96.0.9"', '"*"');

/** The problem, the question, the verdict, the sentence, and the fix. */
const CASES: readonly (readonly [string, Changes, string, string, RegExp, RegExp])[] = [
  ["all is well", {}, "web:80/", "reaches", /outbound\|80\|\|web\.shop.*10\.0\.0\.9:8080/, /^$/],
  ["mutual TLS", {}, "web:80/", "reaches", /mutual TLS with the certificate "default" by tlsMode-istio/, /^$/],
  ["an endpoint without a sidecar", { tlsMode: "" }, "web:80/", "reaches", /plain text/, /^$/],
  ["no endpoints", { endpoints: [] }, "web:80/", "refused", /has no endpoints: 503 UH/, /selector and targetPort/],
  ["an ejected endpoint", { isEjected: true }, "web:80/", "refused", /ejected by outlier detection/, /outlier/],
  [
    "no cluster",
    { cluster: "outbound|80|v9|web.shop.svc.cluster.local" },
    "web:80/",
    "refused",
    /503 NC/,
    /subset "v9" to spec\.subsets/,
  ],
  ["a name that nobody knows", {}, "nowhere:81", "unknown", /^The address of "nowhere" is unknown: [^?]*$/, /^$/],
  [
    "a misspelled name",
    {},
    "weg:80/",
    "unknown",
    /the address of "weg" is unknown.*did you mean web\.shop\?/i,
    /web\.shop/,
  ],
  ["a short name that is not like another", {}, "db:81", "unknown", /^The address of "db" is unknown: [^?]*$/, /^$/],
  [
    "a port of a host that is no Service of Kubernetes",
    { config: OUTSIDE },
    "web.shop.example.com:9999",
    "unknown",
    /10\.96\.0\.9 belongs to the host "web\.shop\.example\.com".*; it is unknown whether a process listens on port 9999/,
    /^$/,
  ],
  [
    "a service without an address",
    { config: WITHOUT_ADDRESS },
    "web:80/",
    "unknown",
    /and Envoy's configuration has no address of web\.shop\.svc\.cluster\.local/,
    /^$/,
  ],
  ["a misspelled namespace", {}, "web.shpo:80", "unknown", /did you mean web\.shop\?/, /web\.shop/],
  [
    "a misspelled name and REGISTRY_ONLY",
    { passthrough: "BlackHoleCluster" },
    "weg:443",
    "unknown",
    /did you mean web\.shop\? As far as is known: no service/,
    /web\.shop/,
  ],
  [
    "an unknown name and REGISTRY_ONLY",
    { passthrough: "BlackHoleCluster" },
    "nosuch.example:443",
    "unknown",
    /"nosuch\.example" is unknown.*; as far as is known: no service of the mesh has the address/,
    /ServiceEntry/,
  ],
  [
    "a port that the service does not have",
    {},
    "web:9999",
    "refused",
    /10\.96\.0\.9 belongs to the Service shop\/web, which has only the port 80: no process listens on port 9999/,
    /connect to port 80, or add the port 9999 to spec\.ports of the Service shop\/web/,
  ],
  ["the same by its address", {}, "10.96.0.9:9999", "refused", /belongs to the Service shop\/web/, /spec\.ports/],
  [
    "the same without endpoints in the snapshot",
    { hasEndpoints: false },
    "web:9999",
    "unknown",
    /belongs to the Service shop\/web.*; it is unknown whether a pod listens on port 9999/,
    /^$/,
  ],
  [
    "an address that no service has",
    {},
    "10.1.1.1:81",
    "unknown",
    /Envoy connects to 10\.1\.1\.1:81 without service discovery: it is unknown/,
    /^$/,
  ],
  ["no sockets", { sockets: undefined }, IN, "unknown", /it is unknown whether a process listens/i, /^$/],
  [
    "rules that are not known",
    { rules: undefined, spec: { initContainers: [] } },
    "web:80/",
    "unknown",
    /kernel's rules are unknown/,
    /^$/,
  ],
  [
    "rules that are not known, and no endpoints",
    { rules: undefined, spec: { initContainers: [] }, endpoints: [] },
    "web:80/",
    "unknown",
    /kernel's rules are unknown.*; as far as is known: outbound\|80\|\|web\.shop\.svc\.cluster\.local has no endpoints/,
    /selector/,
  ],
  [
    "a route of a VirtualService",
    { origin: "virtual-service/web-routes" },
    "web:80/",
    "reaches",
    /outbound\|80/,
    /^$/,
  ],
  [
    "a circuit breaker of a DestinationRule",
    { origin: "destination-rule/web-limits", max_connections: 0 },
    "web:80/",
    "refused",
    /the circuit breaker limits connections to 0: 503 UO/i,
    /spec\.trafficPolicy\.connectionPool of DestinationRule shop\/web-limits: kubectl edit -n shop destinationrule\/web-limits$/,
  ],
  ["REGISTRY_ONLY", { passthrough: "BlackHoleCluster" }, "10.1.1.1:81", "refused", /REGISTRY_ONLY/, /ServiceEntry/],
  ["no listener on 15001", { hasListeners: false }, "web:80/", "refused", /no listener on port 15001/, /control plane/],
  ["the proxy's user", { uid: 1337 }, "web:80/", "bypasses", /runs as the proxy's user 1337/, /runAsUser/],
  ["the host's network", { spec: { hostNetwork: true } }, "web:80/", "bypasses", /host's network/, /hostNetwork/],
  ["no rules in the kernel", { rules: "*nat\nCOMMIT\n" }, "web:80/", "bypasses", /no Istio rules/, /istio-init/],
  [
    "an excluded port",
    { rules: `${RULES}-A ISTIO_OUTPUT -p tcp --dport 80 -j RETURN\n${CAPTURE_ALL}` },
    "web:80/",
    "bypasses",
    /ISTIO_OUTPUT rule 1 excludes the connection: its port is excluded/,
    /excludeOutboundPorts/,
  ],
  ["planned rules", { rules: undefined }, "web:80/", "reaches", /outbound\|80/, /^$/],
  [
    "no proxy",
    { config: "", rules: undefined, spec: { initContainers: [], containers: [{ name: "app" }] } },
    "10.1.1.1:80",
    "unknown",
    /^The pod has no proxy: it is not in the mesh$/,
    /^find the reason: kubectl mesh check injection pod\/a -n shop$/,
  ],
  [
    "an expired certificate",
    { expires: "2026-01-01T00:00:00Z" },
    "web:80/",
    "refused",
    /without a valid workload certificate: it expired 325d ago/,
    /renew/,
  ],
  ["strict inbound", {}, IN, "reaches", /STRICT/, /^$/],
  ["nothing listens", { sockets: [9999] }, IN, "refused", /No process listens on port 8080, but on 9999/, /targetPort/],
  [
    "loopback only",
    { sockets: ["127.0.0.1:8080"] },
    IN,
    "refused",
    /listens only on 127\.0\.0\.1:8080.*29940/,
    /0\.0\.0\.0/,
  ],
  [
    "an ALLOW policy of others",
    { allow: { source_ip: "10.1.0.0" } },
    IN,
    "refused",
    /No ALLOW policy allows this client: 403/,
    /spec\.rules of AuthorizationPolicy shop\/allow rule 0: kubectl edit -n shop authorizationpolicy\/allow$/,
  ],
  [
    "an ALLOW policy of identities",
    { allow: { identity: "spiffe://x/ns/a/sa/b" } },
    IN,
    "unknown",
    /depends on the client.*spiffe:\/\/x\/ns\/a\/sa\/b/,
    /^$/,
  ],
  ["no configuration", { config: "" }, "web:80/", "unknown", /config_dump\.json is not JSON/, /take the snapshot/],
];

Deno.test("answerOf: endpoints that their metadata chooses are unknown", async () => {
  const lb_subset_config = { subset_selectors: [{ keys: ["version"] }] };
  const { stations, endpoints } = await ask({ lb_subset_config }, "web:80/");
  const { result, source, message } = stations.find(({ kind }) => kind === "endpoint") ?? {};
  assert.deepEqual([result, source, endpoints], ["unknown", "unknown", []]);
  assert.match(message ?? "", /lb_subset_config/);
});

for (const [name, changes, asked, verdict, reason, fix] of CASES) {
  Deno.test(`answerOf: ${name}`, async () => {
    const answer = await ask(changes, asked);
    assert.equal(answer.verdict, verdict, answer.reason);
    assert.match(answer.reason, reason);
    assert.match(answer.fix, fix);
  });
}

Deno.test("answerOf: resources are named by kind, namespace and name", async () => {
  const messages = (await ask({ origin: "virtual-service/web-routes" }, "web:80/")).stations.map(({ message }) =>
    message
  );
  assert.ok(messages.some((each) => each.includes('route 1 "default" of VirtualService shop/web-routes: path')));
  assert.ok(messages.includes("settings of VirtualService shop/web-routes"));
});

Deno.test("answerOf: the source of the kernel's station depends on the available rules", async () => {
  const source = async (changes: Changes) =>
    (await ask(changes, "web:80/")).stations.find(({ kind }) => kind === "kernel")?.source;
  assert.equal(await source({}), "seen");
  assert.equal(await source({ rules: undefined }), "planned");
  assert.equal(await source({ rules: undefined, spec: { initContainers: [] } }), "unknown");
});

/** A setting of a route, its station, and the end of the station's message. */
const SET: readonly (readonly [string, string, RegExp])[] = [
  ['"timeout":"3s"', "route", /; the timeout is 3000ms, then 504 UT$/],
  ['"timeout":"0s"', "route", /path starts with "\/"$/],
  ['"retry_policy":{"retry_on":"5xx","num_retries":5}', "route", /; failed requests are retried up to 5 times on 5xx$/],
  ['"retry_policy":{"retry_on":"5xx","num_retries":0}', "route", /; retries are off$/],
  [
    '"retry_policy":{"retry_on":"connect-failure,refused-stream,unavailable,cancelled","num_retries":2}',
    "route",
    /path starts with "\/"$/,
  ],
];

for (const [set, kind, message] of SET) {
  Deno.test(`a route shows what is set, and not Istio's own: ${set}`, async () => {
    const route = '"route":{"cluster":"outbound|80||web.shop.svc.cluster.local"';
    assert(CONFIG.includes(route));
    const { stations } = await ask({ config: CONFIG.replace(route, `${route},${set}`) }, "http://web:80/");
    assert.match(stations.find((each) => each.kind === kind)?.message ?? "", message);
  });
}

Deno.test("a cluster shows circuit breakers and outlier detection that are set, and not Envoy's defaults", async () => {
  const cluster = async (changes: Changes) =>
    (await ask(changes, "http://web:80/")).stations.find(({ kind }) => kind === "cluster")?.message ?? "";
  assert.match(await cluster({ max_connections: 7 }), /circuit breaker at connections 7/);
  assert.doesNotMatch(await cluster({ max_connections: 1024 }), /circuit/);
  assert.match(await cluster({ isEjected: false }), /outlier detection ejects after errors, at most 10% of hosts/);
  assert.doesNotMatch(await cluster({}), /outlier/);
});
