import assert from "node:assert/strict";
import { type Changes, fakeSnapshot } from "../connection/fake_snapshot_test.ts";
import { answerOf } from "../answer.ts";
import { readConnection } from "../question/read_connection.ts";
import type { Counted, Evidence, Sent } from "../evidence.ts";

const WEB = "outbound|80||web.shop.svc.cluster.local";
const LOCAL = { address: "10.0.0.8", port: 40028 };
const OWN = "10.0.0.8:40028";
const ENVOY = { local: { address: "127.0.0.1", port: 15001 }, remote: LOCAL, state: "01", inode: "2" };
const CLIENT = { local: LOCAL, remote: { address: "10.96.0.9", port: 80 }, state: "01", inode: "1" };
const SENT: Sent = {
  local: LOCAL,
  remote: CLIENT.remote,
  status: 200,
  headers: new Set(["x-envoy-upstream-service-time"]),
  failure: "",
  sockets: [CLIENT, ENVOY],
};

function counted(requests: Readonly<Record<string, number>>): Counted {
  const cluster_statuses = Object.entries(requests).map(([name, value]) => ({
    name,
    host_statuses: [{
      address: { socket_address: { address: "10.0.0.9", port_value: 8080 } },
      stats: [{ name: "rq_total", value: String(value) }],
    }],
  }));
  return { clusters: { text: JSON.stringify({ cluster_statuses }) }, listeners: { text: "" } };
}

function logLine(fields: Readonly<Record<string, unknown>>): string {
  return JSON.stringify({ downstream_remote_address: OWN, request_id: "MARK", ...fields });
}

interface Left {
  readonly sent?: Partial<Sent> | string;
  readonly after?: Readonly<Record<string, number>>;
  readonly log?: string;
  readonly rules?: string;
  readonly to?: string;
}

/** Returns the answer after a probe with these results. */
async function probedWith(
  { sent = {}, after = { [WEB]: 1 }, log, rules, to = "web:80/" }: Left,
  changes: Changes = {},
) {
  const connection = readConnection({
    ...{ to, from: undefined, toPort: undefined, method: undefined, header: [], sni: undefined },
  });
  assert.ok(connection !== undefined);
  const probe: Evidence = {
    request: "GET http://web:80/ as UID 1000",
    mark: "MARK",
    connection,
    uid: 1000,
    sent: typeof sent === "string" ? sent : { ...SENT, ...sent },
    before: counted({ [WEB]: 0 }),
    after: counted(after),
    rules: new Map(rules === undefined ? [] : [["rules.iptables", { text: rules }]]),
    log: log === undefined ? { absent: "forbidden", message: "the log cannot be read: forbidden" } : { text: log },
  };
  const answer = await answerOf(fakeSnapshot({ ...changes, probe }), connection);
  const provedKinds = answer.stations.filter(({ source }) => source === "proved").map(({ kind }) => kind);
  return { answer, proved: provedKinds.join(" ") };
}

Deno.test("a probe: sockets and counters prove user, name, kernel, cluster and endpoint", async () => {
  const { answer, proved } = await probedWith({});
  assert.equal(proved, "application dns kernel cluster endpoint");
  assert.equal(answer.verdict, "reaches");
  assert.equal(answer.probe?.result, `sent from ${OWN}: the response is 200`);
  assert.deepEqual(answer.probe?.unproved.slice(0, 2), [
    "not proved: listener, filter-chain, route, tls",
    "the log cannot be read: forbidden",
  ]);
});

Deno.test("a probe does not prove the cluster if other traffic is counted at the same time", async () => {
  const { answer, proved } = await probedWith({ after: { [WEB]: 1, other: 4 } });
  assert.equal(proved, "application dns kernel");
  assert.ok(answer.probe?.unproved.includes("other traffic: 2 clusters counted requests at the same time"));
});

Deno.test("a probe: a response that Envoy itself generates does not prove a cluster", async () => {
  const { answer, proved } = await probedWith({ sent: { headers: new Set(), status: 503 } });
  assert.equal(proved, "application dns kernel");
  assert.ok(answer.probe?.unproved.includes("no counter shows that Envoy forwarded the request"));
});

Deno.test("a probe: the access log also proves the route, and is preferred to counters", async () => {
  const line = { route_name: "default", upstream_cluster: WEB, upstream_host: "10.0.0.9:8080", response_code: 200 };
  const { proved } = await probedWith({ log: logLine(line), after: { [WEB]: 1, other: 4 } });
  assert.equal(proved, "application dns kernel route cluster endpoint");
});

Deno.test("a probe that uses an unexpected cluster contradicts the answer", async () => {
  const { answer, proved } = await probedWith({ log: logLine({ upstream_cluster: "PassthroughCluster" }) });
  assert.equal(answer.verdict, "unknown");
  assert.match(
    answer.reason,
    /did not use the expected cluster: the request used PassthroughCluster, according to the access log/,
  );
  assert.equal(proved, "application dns kernel");
});

Deno.test("a probe that reaches an unexpected endpoint contradicts the answer", async () => {
  const { answer } = await probedWith({ log: logLine({ upstream_cluster: WEB, upstream_host: "10.0.0.7:8080" }) });
  assert.match(answer.reason, /did not use the expected endpoint: 10\.0\.0\.7:8080/);
});

Deno.test("a probe: a failed connection is refused, whatever the answer predicted", async () => {
  const log = logLine({
    upstream_cluster: WEB,
    upstream_host: "10.0.0.9:8080",
    response_code: 503,
    response_flags: "UF",
  });
  const { answer } = await probedWith({ log, sent: { headers: new Set(), status: 503 } });
  assert.deepEqual([answer.verdict, answer.reason], ["refused", "Envoy itself responded to the probe with 503 UF"]);
  const { answer: silent } = await probedWith({ sent: { failure: "Recv failure", status: 0, headers: new Set() } });
  assert.deepEqual([silent.verdict, silent.reason], ["unknown", "The probe got no response: Recv failure"]);
});

Deno.test("a probe proves a refusal by Envoy's response flag, and contradicts a refusal that does not happen", async () => {
  const log = logLine({ response_code: 503, response_flags: "UH", upstream_cluster: WEB });
  const { answer, proved } = await probedWith({ log, sent: { headers: new Set(), status: 503 } }, { endpoints: [] });
  assert.equal(answer.verdict, "refused");
  assert.equal(proved, "application dns kernel cluster endpoint");
  const { answer: other } = await probedWith({}, { endpoints: [] });
  assert.deepEqual([other.verdict, other.reason], ["unknown", "The probe was not refused: the response was 200"]);
});

Deno.test("a probe: the kernel captures the connection, lets it pass, or is unknown", async () => {
  const bypass = { sockets: [CLIENT] };
  const kernelOf = async (left: Left, changes: Changes = {}) => {
    const { answer } = await probedWith(left, changes);
    const { source, result } = answer.stations.find(({ kind }) => kind === "kernel") ?? {};
    return `${source} ${result}: ${answer.verdict}`;
  };
  assert.equal(await kernelOf({ sent: bypass, to: "tcp://10.1.1.1:81" }), "seen error: unknown");
  assert.equal(
    await kernelOf({ sent: bypass, to: "tcp://10.1.1.1:81" }, { rules: "*nat\nCOMMIT\n" }),
    "proved ok: bypasses",
  );
  assert.equal(await kernelOf({ to: "tcp://10.1.1.1:81" }, { rules: "*nat\nCOMMIT\n" }), "seen error: unknown");
  assert.equal(await kernelOf({}, { rules: undefined }), "proved ok: reaches");
  assert.equal(await kernelOf({}, { rules: undefined, spec: { initContainers: [] } }), "proved ok: reaches");
  assert.equal(await kernelOf({ sent: { sockets: [] } }), "seen ok: reaches");
});

Deno.test("a probe: the kernel's station shows the counter of the deciding rule", async () => {
  const rules = (count: number) =>
    `*nat\n-A OUTPUT -j ISTIO_OUTPUT\n[${count}:60] -A ISTIO_OUTPUT -p tcp -j REDIRECT --to-ports 15001\nCOMMIT\n`;
  const { answer } = await probedWith({ rules: rules(8) }, { rules: rules(7) });
  const kernel = answer.stations.find(({ kind }) => kind === "kernel");
  assert.match(kernel?.message ?? "", /port 15001 accepted the connection; the counter of the rule went from 7 to 8$/);
});

Deno.test("a probe that cannot be sent proves nothing, and gives the reason", async () => {
  const { answer, proved } = await probedWith({ sent: "curl is not installed" });
  assert.equal(proved, "");
  assert.deepEqual([answer.probe?.isSent, answer.probe?.result], [false, "not sent: curl is not installed"]);
});
