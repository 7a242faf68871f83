import assert from "node:assert/strict";
import { type CaptureCase, captureSettings, captureText } from "../../../test/support/cases/capture.ts";
import { testShared } from "../../../test/support/test_when.ts";

interface Case extends CaptureCase {
  readonly name: string;
  readonly expect_rc: number;
  readonly rules?: string;
}

// The named cases of our own and Istio's recorded answers are in test/oracle/pilot_agent.
testShared("cases/iptables", "makePlan: every shared case has the rules of istio-iptables", async (folder, t) => {
  const cases: Case[] = JSON.parse(await Deno.readTextFile(`${folder}/cases.json`));
  for (const one of cases.filter(({ rules, name }) => rules !== undefined && !name.includes("cleanup"))) {
    await t.step(one.name, () => {
      const wanted = Deno.readTextFileSync(`${folder}/${one.rules}`).replace(/^ip6?tables-save\n/gm, "");
      assert.equal(captureText(one), wanted.trimEnd() + "\n");
    });
  }
});

testShared("cases/iptables", "readSettings: rejects what istio-iptables rejects", async (folder, t) => {
  const cases: Case[] = JSON.parse(await Deno.readTextFile(`${folder}/cases.json`));
  for (const one of cases.filter(({ expect_rc }) => expect_rc !== 0)) {
    await t.step(one.name, () => assert.notEqual(captureSettings(one).problems.length, 0));
  }
});

Deno.test("makePlan: rules of TPROXY match the port before the state, as istio-iptables does; nft after it", () => {
  const flags = ["-u", "1337", "-g", "1337", "-m", "TPROXY", "-b", "8080"];
  const text = (backend: CaptureCase["backend"]) =>
    captureText({ flags, env: {}, backend, setup: { local_ips: ["10.1.1.1"] } });
  const rule = "-A ISTIO_INBOUND -p tcp --dport 8080 -m conntrack --ctstate RELATED,ESTABLISHED -j ISTIO_DIVERT";
  assert.ok(text("iptables").includes(`${rule}\n`));
  assert.match(text("nft"), /ct state related,established tcp dport 8080 counter jump istio-divert\n/);
});
