/** The kernel counts a connection at each rule that `explain` names for it. */
import assert from "node:assert/strict";
import { absentPart, type Part, type Snapshot } from "../../../src/explain/snapshot/snapshot.ts";
import { snapshotOf } from "../../../src/explain/snapshot/manifest.ts";
import { answerWith } from "../../../src/explain/connection/answer.ts";
import { factsOf } from "../../../src/explain/connection/facts.ts";
import { readConnection } from "../../../src/explain/question/read_connection.ts";
import { testWhen } from "../../support/test_when.ts";
import { BACK_ENDS } from "../iptables/support/back_ends.ts";
import { OUTSIDE, Pair, POD } from "../iptables/support/pod.ts";

/** The outbound port that is excluded from capture. */
const EXCLUDED_PORT = 9400;
const ARGS = [
  "-p",
  "15001",
  "-z",
  "15006",
  "-u",
  "1337",
  "-i",
  "*",
  "-b",
  "*",
  "-o",
  String(EXCLUDED_PORT),
  "-d",
  "15020",
  "-x",
  "10.197.0.0/16",
];

interface Case {
  readonly what: string;
  /** The application's user ID; `outside`: the neighbour connects to the pod. */
  readonly uid: number | "outside";
  readonly host: string;
  readonly port: number;
  readonly verdict: "captured" | "bypasses";
}

const CASES: readonly Case[] = [
  { what: "captured", uid: 0, host: "10.196.0.1", port: 80, verdict: "captured" },
  { what: "an excluded port", uid: 0, host: "10.196.0.1", port: EXCLUDED_PORT, verdict: "bypasses" },
  { what: "an excluded address", uid: 0, host: "10.197.0.1", port: 80, verdict: "bypasses" },
  { what: "the proxy's user", uid: 1337, host: "10.196.0.1", port: 80, verdict: "bypasses" },
  { what: "its own pod", uid: 0, host: POD[4], port: 80, verdict: "bypasses" },
  { what: "inbound", uid: "outside", host: POD[4], port: 8080, verdict: "captured" },
  { what: "an excluded inbound port", uid: "outside", host: POD[4], port: 15020, verdict: "bypasses" },
];

for (const mode of ["REDIRECT", "TPROXY"]) {
  for (const { name, flags, missing } of BACK_ENDS) {
    testWhen(missing, `explain names the rules that count a connection: ${name}, ${mode}`, async (t) => {
      await using pair = await Pair.create([4]);
      await pair.outside.shell(
        "ip route add local 10.192.0.0/12 dev lo; ip addr add 10.199.0.1/24 dev eth0 2>/dev/null || true",
      );
      const { code, stderr } = await pair.pod.mesh(["iptables", "apply", ...ARGS, "-m", mode, ...flags]);
      assert.equal(code, 0, stderr);
      // nft: without a listening socket, tproxy ends the rule before its counter.
      await pair.pod.serve({ tcp: [15001, 15020], transparent: [15006] });
      for (const each of CASES) await t.step(each.what, () => compare(pair, name, each));
    });
  }
}

type BackEnd = typeof BACK_ENDS[number]["name"];

/** A snapshot with the kernel's rules and sockets, without Envoy's configuration. */
async function snapshot({ pod }: Pair, backEnd: BackEnd, { uid }: Case): Promise<Snapshot> {
  const rules: readonly (readonly [string, Part])[] = backEnd === "nft"
    ? [["rules.nft", { text: await pod.shell("nft list ruleset") }]]
    : [["rules.iptables", { text: await pod.shell(`${backEnd}-save -c`) }]];
  const app = { name: "app", securityContext: uid === "outside" ? {} : { runAsUser: uid } };
  const spec = { containers: [app, { name: "istio-proxy" }] };
  const text = JSON.stringify({ metadata: { name: "a", namespace: "x" }, spec, status: { podIP: POD[4] } });
  const sockets = { text: await pod.shell("cat /proc/net/tcp /proc/net/tcp6") };
  const parts = new Map<string, Part>([...rules, ["pod.json", { text }], ["sockets.txt", sockets], [
    "config_dump.json",
    absentPart("not-running", "no Envoy"),
  ]]);
  return snapshotOf(parts, "the test");
}

/** The packets that each rule has counted, by table, chain and position. */
async function counters({ pod }: Pair, backEnd: BackEnd): Promise<Map<string, number>> {
  const text = backEnd === "nft" ? await pod.shell("nft list ruleset") : await pod.shell(`${backEnd}-save -c`);
  const found = new Map<string, number>();
  let [table, chain] = ["", ""];
  for (const line of text.split("\n").map((each) => each.trim())) {
    table = /^\*(\w+)/.exec(line)?.[1] ?? /^table inet istio-proxy-(\w+)/.exec(line)?.[1] ?? table;
    const of = /^\[\d+:\d+\] -A (\S+)/.exec(line)?.[1];
    chain = of ?? (/^chain (\S+) \{/.exec(line)?.[1] ?? chain).toUpperCase().replaceAll("-", "_");
    const packets = /^\[(\d+):/.exec(line)?.[1] ?? /counter packets (\d+)/.exec(line)?.[1];
    if (packets === undefined || line.startsWith(":")) continue;
    const place = [...found.keys()].filter((key) => key.startsWith(`${table} ${chain} `)).length + 1;
    found.set(`${table} ${chain} ${place}`, Number(packets));
  }
  return found;
}

async function compare(pair: Pair, backEnd: BackEnd, each: Case): Promise<void> {
  const { uid, host, port, verdict } = each;
  const isInbound = uid === "outside";
  const connection = readConnection({
    ...{ method: undefined, header: [], sni: undefined },
    ...isInbound
      ? { to: undefined, from: OUTSIDE[4], toPort: port }
      : { to: `tcp://${host}:${port}`, from: undefined, toPort: undefined },
  });
  assert.ok(connection !== undefined);
  const answer = answerWith(factsOf(await snapshot(pair, backEnd, each)), connection);
  const before = await counters(pair, backEnd);
  await pair[isInbound ? "outside" : "pod"].ask([{ host, port, ...isInbound ? {} : { uid, gid: uid } }]);
  const after = await counters(pair, backEnd);
  const counted = [...after].filter(([rule, packets]) => packets > (before.get(rule) ?? 0)).map(([rule]) => rule);
  const kernel = answer.stations.find(({ kind }) => kind === "kernel");
  assert.ok(kernel !== undefined);
  assert.equal(kernel.source, "seen");
  assert.equal(answer.verdict === "bypasses" ? "bypasses" : "captured", verdict, answer.reason);
  const passed = kernel.detail["passed"];
  assert.ok(Array.isArray(passed));
  const named = passed.map((text: string) => text.split(":")[0] ?? "");
  assert.deepEqual(named.filter((rule) => !counted.includes(rule)), [], `counted: ${counted.join(", ")}`);
  assert.ok(verdict === "bypasses" || named.length > 0);
}
