import assert from "node:assert/strict";
import { makePlan } from "../../plan/plan.ts";
import { readSettings } from "../../settings/read.ts";
import { nftText } from "../../views/nft.ts";
import { listedTables, wantedRule } from "./content.ts";

const NAMES = { users: new Map([["istio-proxy", 1337]]), groups: new Map([["istio-proxy", 1337]]) };

function keys(...rules: string[]): readonly string[] {
  const listing = `table inet istio-proxy-nat {\n\tchain output {\n${rules.join("\n")}\n\t}\n}\n`;
  return listedTables(listing, NAMES).flatMap(({ rules }) => rules.map(({ key }) => key));
}

/** A planned rule, and what releases of nft print for it. */
const SPELLINGS: readonly (readonly [string, ...string[]])[] = [
  [
    "oifname lo ip saddr 127.0.0.6/32 counter return",
    'oifname "lo" ip saddr 127.0.0.6 counter packets 7 bytes 420 return',
    'oifname "lo" ip saddr 127.0.0.6 counter packets 0 bytes 0 return # handle 12',
  ],
  [
    "skuid 1337 counter return",
    "meta skuid 1337 counter packets 0 bytes 0 return",
    'skuid "istio-proxy" counter packets 0 bytes 0 return',
  ],
  ["tcp dport != { 53, 40 } counter return", "tcp dport != { 40, 53 } counter packets 1 bytes 2 return"],
  ["meta l4proto tcp tcp dport 80 counter return", "tcp dport 80 counter packets 1 bytes 2 return"],
  ["mark != 1338 counter return", "meta mark != 0x0000053a counter packets 0 bytes 0 return"],
  ["ct mark 1337 counter meta mark set ct mark", "ct mark 0x00000539 counter packets 0 bytes 0 meta mark set ct mark"],
  ["mark 1337 counter ct mark set mark", "meta mark 0x00000539 counter packets 0 bytes 0 ct mark set meta mark"],
  ["ct state related,established counter accept", "ct state established,related counter packets 0 bytes 0 accept"],
  [
    "ip daddr != 127.0.0.1/32 tproxy ip to :15006 meta mark set 1337 counter accept",
    "ip daddr != 127.0.0.1 tproxy ip to :15006 meta mark set 0x00000539 counter packets 0 bytes 0 accept",
  ],
  ['counter drop comment "a b"', 'counter packets 0 bytes 0 drop comment "a b"'],
];

for (const [planned, ...printed] of SPELLINGS) {
  Deno.test(`listedTables: the spellings of "${planned}" have one key`, () => {
    assert.deepEqual(new Set(keys(planned, ...printed)).size, 1);
  });
}

Deno.test("listedTables: an unknown condition, another outcome or another comment gives another key", () => {
  const all = keys(
    "counter drop",
    "ip ttl 5 counter drop",
    "drop",
    "ip daddr 10.0.0.1 drop",
    "counter accept",
    'counter drop comment "x"',
  );
  assert.equal(new Set(all).size, 6);
});

Deno.test("listedTables: owned tables only, with chains, order and packets", () => {
  const listing = `table ip istio-proxy-nat {
\tchain output {
\t\tcounter packets 1 bytes 1 drop
\t}
}
table inet other {
\tchain output {
\t\tcounter packets 1 bytes 1 drop
\t}
}
table inet istio-proxy-raw { # handle 5
\tset s {
\t\ttype ipv4_addr
\t}

\tchain empty { # handle 1
\t}

\tchain output {
\t\ttype filter hook output priority raw; policy accept;
\t\tudp dport 53 counter packets 3 bytes 180 ct zone set 1
\t\tudp dport 53 ct zone set 2
\t}
}
`;
  const [table, ...others] = listedTables(listing, NAMES);
  assert.deepEqual(others, []);
  assert.deepEqual([table?.name, table?.chains], ["raw", ["EMPTY", "OUTPUT"]]);
  assert.deepEqual(table?.rules.map(({ chain, packets }) => [chain, packets]), [["OUTPUT", 3], ["OUTPUT", undefined]]);
});

Deno.test("wantedRule: every planned rule can be compared with a listed rule", () => {
  const args =
    "-b * -i * -m TPROXY --redirect-dns --drop-invalid -x 10.0.0.0/8 -d 80,100-200 --exclude-uid 1000 -c eth9";
  const { settings } = readSettings(args.split(" "), {}, { ...NAMES, isPrintOnly: true });
  assert.ok(settings !== undefined);
  const plan = makePlan(settings.capture, {
    hasIpv6: true,
    dnsServers: [{ family: 4, value: 0x0a60000an, zone: "" }],
  });
  const all = plan.rules.map((rule) => wantedRule(rule, { names: NAMES }).key);
  assert.equal(all.length, nftText(plan).split("\n").filter((line) => / rule inet /.test(line)).length);
  assert.deepEqual(all.filter((key) => key.includes("?")), []);
});
