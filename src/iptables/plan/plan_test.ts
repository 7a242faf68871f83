import assert from "node:assert/strict";
import { needsShared, SHARED, testWhen } from "../../../test/support/test_when.ts";
import { podNetwork } from "../detect/pod_network.ts";
import { nameservers } from "../detect/resolv_conf.ts";
import { parseNames } from "../settings/names.ts";
import { readSettings } from "../settings/read.ts";
import { nftText } from "../views/nft.ts";
import { restoreText } from "../views/restore.ts";
import { makePlan } from "./plan.ts";

interface Case {
  name: string;
  flags: string[];
  env: Record<string, string>;
  backend: "iptables" | "nft";
  setup: { local_ips: string[]; resolv_conf?: string };
  expect_rc: number;
  rules?: string;
}

const NAMES = { users: parseNames("root:x:0:0\n"), groups: parseNames("java:x:201:\nftp:x:50:\n") };

testWhen(needsShared("cases/iptables/cases.json"), "makePlan: the text of every case is the peer's", async (t) => {
  const folder = `${SHARED}/cases/iptables`;
  const cases: Case[] = JSON.parse(await Deno.readTextFile(`${folder}/cases.json`));
  for (const one of cases.filter(({ rules, name }) => rules !== undefined && !name.includes("cleanup"))) {
    await t.step(one.name, () => {
      const wanted = Deno.readTextFileSync(`${folder}/${one.rules}`).replace(/^ip6?tables-save\n/gm, "");
      assert.equal(textOf(one), wanted.trimEnd() + "\n");
    });
  }
});

testWhen(needsShared("cases/iptables/cases.json"), "readSettings: what the peer refuses is refused", async (t) => {
  const cases: Case[] = JSON.parse(await Deno.readTextFile(`${SHARED}/cases/iptables/cases.json`));
  for (const one of cases.filter(({ expect_rc }) => expect_rc !== 0)) {
    await t.step(one.name, () => assert.notEqual(readSettings(one.flags, one.env, NAMES).problems.length, 0));
  }
});

Deno.test("makePlan: in rules of TPROXY for a port it comes before the state, as the peer has it; nft has it after", () => {
  const flags = ["-u", "1337", "-g", "1337", "-m", "TPROXY", "-b", "8080"];
  const text = (backend: Case["backend"]) => {
    const one: Case = { name: "", flags, env: {}, backend, setup: { local_ips: ["10.1.1.1"] }, expect_rc: 0 };
    return textOf(one);
  };
  const rule = "-A ISTIO_INBOUND -p tcp --dport 8080 -m conntrack --ctstate RELATED,ESTABLISHED -j ISTIO_DIVERT";
  assert.ok(text("iptables").includes(`${rule}\n`));
  assert.match(text("nft"), /ct state related,established tcp dport 8080 counter jump istio-divert\n/);
});

function textOf({ flags, env, setup, backend }: Case): string {
  const { settings, problems } = readSettings(flags, env, NAMES);
  assert.deepEqual(problems, []);
  assert.ok(settings);
  const { hasIpv6 } = podNetwork(["127.0.0.1", ...setup.local_ips], settings.capture.dualStack);
  const plan = makePlan(settings.capture, { hasIpv6, dnsServers: nameservers(setup.resolv_conf ?? "").servers });
  if (backend === "nft") return nftText(plan);
  return plan.families.map((family) => restoreText(plan, family)).join("");
}
