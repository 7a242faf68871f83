import assert from "node:assert/strict";
import { answerWith } from "../connection/answer.ts";
import { factsOf } from "../connection/facts.ts";
import { fakeSnapshot } from "../connection/fake_snapshot_test.ts";
import { readConnection } from "../question/read_connection.ts";
import { re2Library } from "../../golang/re2.ts";
import { connectionOfLine, explainedFlags, flagsOfLine, readFlags } from "./response_flags.ts";

Deno.test("readFlags() and flagsOfLine() know Envoy's flags, and Istio's lines", () => {
  assert.deepEqual(readFlags("uf, URX"), ["UF", "URX"]);
  assert.deepEqual(readFlags("-"), []);
  assert.throws(() => readFlags("URXX"), { message: 'Envoy has no response flag "URXX"', hint: "did you mean URX?" });
  assert.throws(() => readFlags("QQQQ"), { hint: /^the flags are DC, DI, .*, UT$/ });
  const line = '[2026-01-02T03:04:05Z] "GET /api HTTP/1.1" 503 UF,URX upstream_reset - "-" 0 91 2 - "-" "curl"';
  assert.deepEqual(flagsOfLine(line), ["UF", "URX"]);
  assert.deepEqual(flagsOfLine('{"response_code":503,"response_flags":"UH"}'), ["UH"]);
  assert.throws(() => flagsOfLine("hello"), /not from Istio's access log/);
  assert.throws(() => flagsOfLine("\n"), { message: "The line of the access log is empty" });
});

/** A line in Istio's text format, with its last fields: cluster, three addresses, SNI, route. */
const logLine = (end: string) =>
  `[2026-01-02T03:04:05Z] "GET / HTTP/1.1" 503 UF - - "-" 0 0 1 - "-" "curl" "id" "web" "10.0.0.9:80" ${end}\n`;

Deno.test("connectionOfLine() returns the flags of explain for the connection of a line", () => {
  const cases: readonly [string, string | undefined][] = [
    [
      logLine("outbound|8080|v1|catalog.shop.svc.cluster.local 10.0.0.1:5 10.96.0.9:8080 10.0.0.1:4 - default"),
      "--to catalog.shop.svc.cluster.local:8080",
    ],
    [logLine("BlackHoleCluster - 203.0.113.7:443 10.0.0.1:4 - -"), "--to 203.0.113.7:443"],
    [logLine("PassthroughCluster 10.0.0.1:5 [2001:db8::7]:443 [fd00::1]:4 - -"), "--to [2001:db8::7]:443"],
    [logLine("inbound|8080|| 127.0.0.6:5 10.0.0.1:8080 10.0.0.2:4 - default"), "--from 10.0.0.2 --to-port 8080"],
    [logLine("InboundPassthroughCluster - 10.0.0.1:9 10.0.0.2:4 - -"), "--from 10.0.0.2 --to-port 9"],
    [logLine("- - 10.96.0.9:8080 10.0.0.1:4 - -"), undefined],
    ["hello", undefined],
    [
      '{"upstream_cluster":"inbound|8080||","downstream_local_address":"10.0.0.1:8080",' +
      '"downstream_remote_address":"10.0.0.2:4"}',
      "--from 10.0.0.2 --to-port 8080",
    ],
  ];
  for (const [line, expected] of cases) assert.equal(connectionOfLine(line), expected, line);
});

Deno.test("explainedFlags() names the stations that can set a flag, only those with a problem if any", async () => {
  await re2Library.loaded();
  const connection = readConnection({
    to: "http://web:80/",
    from: undefined,
    toPort: undefined,
    method: undefined,
    header: [],
    sni: undefined,
  });
  assert.ok(connection !== undefined);
  const well = answerWith(factsOf(fakeSnapshot()), connection);
  const [uf] = explainedFlags(["UF"], well);
  assert.deepEqual(uf?.stations, ["8 endpoint of shop/a", "9 tls of shop/a"]);
  // Envoy, "Access logging": RFCF is ResponseFromCacheFilter, NFCF NoFilterConfigFound, DR DownstreamRemoteReset.
  const meanings = explainedFlags(readFlags("RFCF,NFCF,DR,DO,UDO"), well).map(({ meaning }) => meaning);
  for (const [at, word] of ["cache", "configuration of a filter", "reset", "share", "every"].entries()) {
    assert.ok(meanings[at]?.includes(word), `${meanings[at]} has not "${word}"`);
  }
  const broken = answerWith(factsOf(fakeSnapshot({ endpoints: [] })), connection);
  const [uh, urx] = explainedFlags(["UH", "URX"], broken);
  assert.deepEqual([uh?.stations, urx?.stations], [["8 endpoint of shop/a"], ["8 endpoint of shop/a"]]);
  assert.match(uh?.next ?? "", /readiness/);
});
