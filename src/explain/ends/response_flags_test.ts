import assert from "node:assert/strict";
import { answerWith } from "../connection/answer.ts";
import { factsOf } from "../connection/facts.ts";
import { fakeSnapshot } from "../connection/fake_snapshot_test.ts";
import { readConnection } from "../question/read_connection.ts";
import { re2Library } from "../../golang/re2.ts";
import { explainedFlags, flagsOfLine, readFlags } from "./response_flags.ts";

Deno.test("readFlags() and flagsOfLine() know Envoy's flags, and Istio's lines", () => {
  assert.deepEqual(readFlags("uf, URX"), ["UF", "URX"]);
  assert.deepEqual(readFlags("-"), []);
  assert.throws(() => readFlags("URXX"), { message: 'Envoy has no response flag "URXX"', hint: "did you mean URX?" });
  const line = '[2026-01-02T03:04:05Z] "GET /api HTTP/1.1" 503 UF,URX upstream_reset - "-" 0 91 2 - "-" "curl"';
  assert.deepEqual(flagsOfLine(line), ["UF", "URX"]);
  assert.deepEqual(flagsOfLine('{"response_code":503,"response_flags":"UH"}'), ["UH"]);
  assert.throws(() => flagsOfLine("hello"), /not from Istio's access log/);
});

Deno.test("explainedFlags() names the stations that can have set a flag, the wrong ones if there are any", async () => {
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
