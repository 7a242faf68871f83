/** Probes of inbound connections: the request, and the stations that it proves. */
import assert from "node:assert/strict";
import { absentPart, type Part } from "../snapshot/snapshot.ts";
import { answerOf } from "../answer.ts";
import { type Changes, fakeSnapshot } from "../connection/fake_snapshot_test.ts";
import { readConnection } from "../question/read_connection.ts";
import { probed, type ProbePlace, type ProbeSender } from "./send.ts";
import type { ProbeUser } from "./plan.ts";

const CLUSTER = "inbound|8080||";
const LOCAL = { address: "10.0.0.8", port: 40028 };
const OWN = "10.0.0.8:40028";
/** The other end of the connection, at Envoy's inbound port. */
const SOCKETS = "   4: 0100007F:3A9E 0800000A:9C5C 01 0:0 0:0 0  1337        0 78 1 0 20\n";

interface World {
  /** The status of the response. */
  readonly status?: number;
  readonly isForwarded?: boolean;
  readonly sockets?: string;
  /** Requests that hosts count during the probe. */
  readonly counted?: Readonly<Record<string, number>>;
  readonly log?: Readonly<Record<string, unknown>>;
  /** The user of the sender, if it differs from the planned user. */
  readonly uid?: number;
  readonly header?: readonly string[];
  readonly port?: number;
  readonly sni?: string;
}

/** Returns the answer for a connection from `from` after a probe, the proved stations, the requests and their users. */
async function probedWith(world: World, changes: Changes = { isPermissive: true }, from = "10.9.9.9") {
  const connection = readConnection({
    ...{ to: undefined, from, toPort: world.port ?? 8080, method: undefined },
    ...{ header: world.header ?? [], sni: world.sni },
  });
  assert.ok(connection !== undefined);
  const sent: string[] = [];
  const users: ProbeUser[] = [];
  const snapshot = await probed(placeOf(world, { sent, users }), fakeSnapshot(changes), connection);
  const answer = await answerOf(snapshot, connection);
  const proved = answer.stations.filter(({ source }) => source === "proved").map(({ kind }) => kind).join(" ");
  return { answer, proved, sent: sent.join(" "), users };
}

function placeOf(
  { status = 200, isForwarded = true, sockets = SOCKETS, counted = { [CLUSTER]: 1 }, log, uid }: World,
  asked: { readonly sent: string[]; readonly users: ProbeUser[] },
): ProbePlace {
  let isSent = false;
  const clusters = () => {
    const cluster_statuses = Object.entries(counted).map(([name, value]) => ({
      name,
      host_statuses: [{
        address: { socket_address: { address: "10.0.0.8", port_value: 8080 } },
        stats: [{ name: "rq_total", value: String(isSent ? value : 0) }],
      }],
    }));
    return { text: JSON.stringify({ cluster_statuses }) };
  };
  const sender = (user: ProbeUser): ProbeSender => ({
    uid: uid ?? user.uid,
    run(command) {
      isSent = true;
      asked.sent.push(...command);
      const mark = command.find((each) => each.startsWith("x-request-id: "))?.slice("x-request-id: ".length);
      const headers = isForwarded ? "HTTP/1.1 200\r\nx-envoy-upstream-service-time: 1\r\n" : "HTTP/1.1 403\r\n";
      const ends = { local_ip: LOCAL.address, local_port: LOCAL.port, remote_ip: "10.0.0.8", remote_port: 8080 };
      const report = JSON.stringify({ exitcode: 0, response_code: status, ...ends });
      return Promise.resolve({ code: 0, stdout: `${headers}\n${mark} ${report}\n${mark}\n${sockets}`, stderr: "" });
    },
  });
  return {
    clock: { sleep: () => Promise.resolve() },
    sender: (user) => (asked.users.push(user), Promise.resolve(sender(user))),
    admin: (part): Promise<Part> => Promise.resolve(part === "clusters.json" ? clusters() : { text: "" }),
    rules: () => Promise.resolve(new Map()),
    log: () => Promise.resolve(logOf(log)),
  };
}

function logOf(fields: World["log"]): Part {
  if (fields === undefined) return absentPart("forbidden", "the log cannot be read: forbidden");
  return { text: JSON.stringify({ downstream_remote_address: OWN, upstream_cluster: CLUSTER, ...fields }) };
}

const LOGGED = JSON.stringify({ path: "/dev/stdout" });
/** Envoy writes an access log. */
const logging: Changes = { isPermissive: true, config: configWithLog() };

function configWithLog(): string {
  const { text = "" } = fakeSnapshot({ isPermissive: true }).parts["config_dump.json"];
  return text.replace(/^\{/, `{"log":${LOGGED},`);
}

Deno.test("an inbound probe is sent as the proxy's user to the pod's own address, and names unproved stations", async () => {
  const { answer, proved, sent, users } = await probedWith({});
  assert.deepEqual(users, [{ uid: 1337, gid: 1337 }]);
  assert.match(sent, / http:\/\/10\.0\.0\.8:8080\/ --next /);
  assert.equal(proved, "listener cluster endpoint port");
  assert.equal(answer.verdict, "reaches");
  assert.equal(answer.probe?.request, "GET http://10.0.0.8:8080/ as UID 1337");
  assert.deepEqual(answer.probe?.unproved.slice(0, 2), [
    "not proved: kernel, filter-chain, tls, route",
    "the request came from 10.0.0.8 in plain text and matched another kernel rule: a probe cannot use the address 10.9.9.9",
  ]);
});

Deno.test("an inbound probe: the access log proves the route and the endpoint", async () => {
  const line = { route_name: "default", upstream_host: "10.0.0.8:8080", response_code: 200 };
  const { proved } = await probedWith({ log: line }, logging);
  assert.equal(proved, "listener route cluster endpoint port");
});

const ALLOW = { isPermissive: true, allow: { identity: "spiffe://cluster.local/ns/shop/sa/b" } };

Deno.test("an inbound probe: Envoy's access log proves that a policy refuses plain text", async () => {
  const denied = { response_code: 403, response_code_details: "rbac_access_denied_matched_policy[none]" };
  const { text = "" } = fakeSnapshot(ALLOW).parts["config_dump.json"];
  const config = text.replace(/^\{/, `{"log":${LOGGED},`);
  const { answer, proved } = await probedWith({ log: denied, isForwarded: false, status: 403 }, { ...ALLOW, config });
  assert.deepEqual([answer.verdict, proved], ["refused", "listener authorization"]);
  const { answer: let_in } = await probedWith({}, ALLOW);
  assert.match(
    let_in.reason,
    /did not use the expected authorization: Envoy forwarded the request, and the response was 200/,
  );
  const { answer: kept_out } = await probedWith({ log: denied, isForwarded: false, status: 403 }, logging);
  assert.match(kept_out.reason, /^Envoy itself responded to the probe with 403: rbac_access_denied/);
});

Deno.test("an inbound probe that did not reach Envoy proves nothing", async () => {
  for (const sockets of ["", SOCKETS.replace("3A9E", "1F90")]) {
    const { answer, proved } = await probedWith({ sockets, isForwarded: false });
    assert.deepEqual([answer.verdict, proved], ["reaches", ""]);
    assert.match(
      answer.probe?.unproved.join() ?? "",
      /(there is no evidence that Envoy|port 8080, which is not Envoy's,) accepted/,
    );
  }
});

/** Reasons why no probe is sent. */
const UNSENT: Readonly<Record<string, readonly [World, Changes, RegExp, string?]>> = {
  "STRICT": [{}, {}, /port 8080 accepts only mutual TLS \(STRICT\), but a probe has no certificate of the mesh/],
  "TLS of the client's own where the mesh's is ended": [
    { sni: "a.example" },
    { isPermissive: true },
    /client must present a certificate of the mesh, but a probe has no certificate/,
  ],
  "a source address that matters": [
    {},
    { isPermissive: true, allow: { source_ip: "10.9.0.0" } },
    /a probe comes from 10\.0\.0\.8 instead of 10\.9\.9\.9, and for 10\.9\.9\.9 the authorization differs/,
  ],
  "no snapshot": [
    {},
    { isPermissive: true, rules: "*nat\nCOMMIT\n" },
    /no Istio rules.*: Envoy does not receive the connection/,
  ],
  "another family": [
    {},
    { isPermissive: true, rules: undefined, spec: { initContainers: [] } },
    /no known address of the IP family of fd00::9/,
    "fd00::9",
  ],
  "rules that leave the proxy's user out": [
    {},
    { isPermissive: true, rules: "*nat\n-A PREROUTING -p tcp -j REDIRECT --to-ports 15006\nCOMMIT\n" },
    /no kernel rule redirects connections of the proxy's user/,
  ],
  "TPROXY": [
    {},
    { isPermissive: true, rules: "*mangle\n-A PREROUTING -p tcp -j TPROXY --on-port 15006 --on-ip 0.0.0.0\nCOMMIT\n" },
    /TPROXY keeps the client's address/,
  ],
  "another user": [{ uid: 1000 }, { isPermissive: true }, /only requests of UID 1337 .* this process has UID 1000/],
};

for (const [name, [world, changes, why, from]] of Object.entries(UNSENT)) {
  Deno.test(`an inbound probe is not sent: ${name}`, async () => {
    const { answer, proved, sent } = await probedWith(world, changes, from);
    assert.deepEqual([answer.probe?.isSent, sent, proved], [false, "", ""]);
    assert.match(answer.probe?.result ?? "", why);
  });
}
