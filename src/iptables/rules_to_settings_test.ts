import assert from "node:assert/strict";
import { parseAddress } from "../golang/net/mod.ts";
import { type HeldRule, heldRules } from "./apply/survey.ts";
import { wantedRule } from "./kernel/nftables/content.ts";
import { ownedRules } from "./kernel/xtables/owned.ts";
import { parseSave } from "./kernel/xtables/save.ts";
import { plannedChains, plannedRule } from "./kernel/xtables/transaction.ts";
import { makePlan } from "./plan/plan.ts";
import { type Plan, rulesOf, TABLES } from "./plan/rule.ts";
import { readSettings } from "./settings/read.ts";
import { heldSettings } from "./rules_to_settings.ts";

const NAMES = { users: new Map<string, number>(), groups: new Map<string, number>() };
const SERVERS = ["10.0.0.10", "fd00::10"].map(parseAddress).filter((address) => typeof address !== "string");

const LINES: readonly string[] = [
  "-i * -b *",
  "-i * -b * -d 15090,15021,9000-9010 -o 3306,5000-5010",
  "-i 10.0.0.0/8,172.16.0.0/12 -x 10.1.0.0/16,192.168.1.1/32 -b 80,443,8000-8010",
  "-i 10.0.0.0/8,fd00::/8 -x fd00:1::/32 -b * --dual-stack",
  "-q 5432,6000-6010 -b *",
  "-i *",
  "-b 8080",
  "",
  "-i * -b * -m TPROXY -t 77 -r 99 -d 15090 --dual-stack",
  "-i * -b 80,443 -m TPROXY -p 16001 -z 16006 -e 16008",
  "-i * -b * -u 1337,2000 -g 1337,3000 --exclude-uid 1000,1001",
  "-i * -b * --exclude-outbound-ports-for-uids tcp:5432,6000-6010:1000;udp:*:1001",
  "-i * -b * --redirect-dns --dual-stack",
  "-i * -b * --redirect-dns --capture-all-dns",
  "-i * -b * -c eth1,net+ -k virt0,virt1 --drop-invalid",
  "-i 10.0.0.0/8 -b * -k virt0,virt1",
];

const BACK_ENDS: Readonly<Record<string, (plan: Plan) => HeldRule[]>> = { iptables: inIptables, nft: inNft };

for (const [backEnd, hold] of Object.entries(BACK_ENDS)) {
  for (const line of LINES) {
    Deno.test(`the settings in the rules of ${backEnd} make the same rules: "${line}"`, () => {
      const wanted = settingsOf(line.split(" ").filter(Boolean));
      const network = { hasIpv6: wanted.dualStack, dnsServers: SERVERS };
      const plan = makePlan(wanted, network);
      const held = heldSettings(hold(plan), new Map([[wanted.mark, wanted.routeTable]]), settingsOf([]));
      assert.deepEqual(makePlan(held, network), plan);
    });
  }
}

function settingsOf(flags: readonly string[]) {
  const { settings, problems } = readSettings(flags, {}, { ...NAMES });
  assert.deepEqual(problems, []);
  assert.ok(settings);
  return settings.capture;
}

/** As iptables-save prints the plan. */
function inIptables(plan: Plan): HeldRule[] {
  const holdings = plan.families.map((family) => {
    const rules = rulesOf(plan, family);
    const text = [...new Set(rules.map(({ table }) => table))].map((table) => {
      const own = rules.filter((rule) => rule.table === table);
      const chains = [...plannedChains(own, (rule) => plannedRule(rule, { names: NAMES }))];
      const names = chains.map(([chain]) => `:${chain} - [0:0]`);
      const lines = chains.flatMap(([chain, rules]) => rules.map(({ text }) => `-A ${chain} ${text}`));
      return [`*${table}`, ...names, ...lines, "COMMIT"].join("\n");
    }).join("\n");
    const tables = parseSave(text, NAMES);
    return { variant: "nft" as const, family, text, tables, owned: ownedRules(tables) };
  });
  return heldRules({ holdings });
}

function inNft(plan: Plan): HeldRule[] {
  const tables = TABLES.map((name) => {
    const own = plan.rules.filter(({ table }) => table === name);
    return {
      name,
      chains: [],
      rules: [...plannedChains(own, (rule) => wantedRule(rule, { names: NAMES })).values()].flat(),
    };
  });
  const owned = new Set(tables.flatMap(({ rules }) => rules));
  return heldRules({ holdings: [{ variant: "native", family: undefined, tables, owned }] });
}
