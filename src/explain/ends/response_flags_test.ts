import assert from "node:assert/strict";
import { answerWith } from "../connection/answer.ts";
import { factsOf } from "../connection/facts.ts";
import { fakeSnapshot } from "../connection/fake_snapshot_test.ts";
import type { Connection } from "../question/question.ts";
import { readConnection } from "../question/read_connection.ts";
import { re2Library } from "../../golang/re2.ts";
import {
  connectionOfLine,
  explainedFlags,
  flagsOfLine,
  lastLogLine,
  otherConnection,
  readFlags,
} from "./response_flags.ts";

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

/** The connection of `--to DESTINATION` or `--from ADDRESS PORT`, with these headers. */
function asked(text: string, ...header: string[]): Connection {
  const [from, port] = text.split(" ");
  const end = port === undefined
    ? { to: text, from: undefined, toPort: undefined }
    : { to: undefined, from, toPort: Number(port) };
  const connection = readConnection({ ...end, header, method: undefined, sni: undefined });
  assert.ok(connection !== undefined);
  return connection;
}

Deno.test("otherConnection() returns the connection of a line if its port or its Service clearly differs", () => {
  const reviews = logLine(
    "outbound|9080||reviews.shop.svc.cluster.local 10.0.0.1:5 10.96.0.9:9080 10.0.0.1:4 - default",
  );
  const named = "--to reviews.shop.svc.cluster.local:9080";
  const inbound = logLine("inbound|8080|| 127.0.0.6:5 10.0.0.1:8080 10.0.0.2:4 - default");
  const outside = logLine("PassthroughCluster 10.0.0.1:5 203.0.113.7:443 10.0.0.1:4 - -");
  const stateful = logLine("outbound|5432||db.shop.svc.cluster.local 10.0.0.1:5 10.0.0.7:5432 10.0.0.1:4 - -");
  const json = '{"response_flags":"UH","upstream_cluster":"outbound|9080||reviews.shop.svc.cluster.local"}';
  const cases: readonly [string, Connection, string | undefined][] = [
    [reviews, asked("reviews:9080/api"), undefined],
    [reviews, asked("catalog:9080"), named],
    [reviews, asked("reviews:8080"), named],
    [json, asked("catalog:8080"), named],
    [json, asked("Reviews.shop:9080"), undefined],
    // The line's authority is web: a VirtualService sends the request to reviews.
    [reviews, asked("web.shop:9080"), undefined],
    [reviews, asked("catalog:9080", "Host: reviews"), undefined],
    [reviews, asked("10.96.0.9:9080"), undefined],
    [reviews, asked("10.96.0.9:80"), named],
    [stateful, asked("db-0.db:5432"), undefined],
    [outside, asked("api.example.com:443"), undefined],
    [outside, asked("api.example.com:80"), "--to 203.0.113.7:443"],
    [inbound, asked("10.9.9.9 8080"), undefined],
    [inbound, asked("10.9.9.9 9090"), "--from 10.0.0.2 --to-port 8080"],
    // The same connection, as the proxy at its other end logs it.
    [inbound, asked("web:80"), undefined],
    ["hello", asked("web:80"), undefined],
  ];
  for (const [line, connection, expected] of cases) {
    assert.equal(otherConnection(line, connection), expected, `${line} ${connection.host}:${connection.port}`);
  }
});

Deno.test("lastLogLine() returns the last line of the access log, and ignores other lines", () => {
  const [first, last] = ["outbound|80||a.b", "outbound|80||c.d"].map((cluster) =>
    logLine(`${cluster} - - - - -`).trim()
  );
  const others = '2026-01-02T03:04:05Z info xds connected\n10.0.0.1 - - "GET / HTTP/1.1" 200 612 "-" "curl"\n\n';
  assert.equal(lastLogLine(`${first}\n${last}\n${others}`), last);
  assert.equal(lastLogLine(`${others}{"response_flags":"-"}\n`), '{"response_flags":"-"}');
  assert.equal(lastLogLine("hello\nworld\n\n"), "world");
  assert.equal(lastLogLine("\n"), "");
});

Deno.test("explainedFlags() names the stations that can set a flag, only those with a problem if any", async () => {
  await re2Library.loaded();
  const connection = asked("http://web:80/");
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
