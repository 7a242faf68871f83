import assert from "node:assert/strict";
import { parseAddress } from "../../golang/net/mod.ts";
import { makePlan } from "../plan/plan.ts";
import { readSettings } from "../settings/read.ts";
import { nftText } from "../views/nft.ts";
import type { Packet } from "./packet.ts";
import { plannedRules, savedRules, type TracedRules } from "./rules.ts";
import { trace } from "./trace.ts";

function address(text: string) {
  const read = parseAddress(text);
  assert.ok(typeof read !== "string", text);
  return read;
}

const POD = "10.77.0.11";

/** `to 10.0.0.1:80 by 0`, `to lo 127.0.0.1:80 by 1337`, `from 10.0.0.1 to 8080`. */
function packet(text: string): Packet {
  const [, destination = "", port = "", uid = ""] = /^to (?:lo )?(.+):(\d+) by (.+)$/.exec(text) ?? [];
  const base = { family: 4, protocol: "tcp", mark: 0 } as const;
  if (destination === "") {
    const [, source = "", to = ""] = /^from (.+) to (\d+)$/.exec(text) ?? [];
    const inside = { outInterface: undefined, uid: undefined, gid: undefined, isSent: false };
    return {
      ...base,
      ...inside,
      source: address(source),
      destination: address(POD),
      port: Number(to),
      inInterface: "eth0",
    };
  }
  const owner = uid === "?" ? undefined : Number(uid);
  return {
    ...base,
    source: address(text.includes(" lo 127") ? "127.0.0.1" : POD),
    destination: address(destination),
    port: Number(port),
    inInterface: undefined,
    outInterface: text.includes(" lo ") ? "lo" : "eth0",
    uid: owner,
    gid: owner,
    isSent: true,
  };
}

function planned(line: string): TracedRules {
  const rules = plannedRules(line.split(" "), { hasIpv6: false, dnsServers: ["10.96.0.10"] });
  assert.ok("rules" in rules, String(rules));
  return rules;
}

/** The text that `nft list ruleset` prints for a plan: the transaction's, without its verbs. */
function inNft(line: string): TracedRules {
  const { settings } = readSettings(line.split(" "), {}, { users: new Map(), groups: new Map(), isPrintOnly: true });
  assert.ok(settings !== undefined);
  const text = nftText(makePlan(settings.capture, { hasIpv6: false, dnsServers: [address("10.96.0.10")] }));
  const chains = new Map<string, string[]>();
  for (const added of text.split("\n")) {
    const [, table, chain, rule] = /^(?:add|insert) rule inet (\S+) (\S+) (?:index \d+ )?(.*)$/.exec(added) ?? [];
    if (table === undefined || rule === undefined) continue;
    const key = `table inet ${table} {\n chain ${chain} {`;
    const own = chains.get(key) ?? [];
    const at = /index (\d+)/.exec(added)?.[1];
    own.splice(at === undefined ? own.length : Number(at), 0, rule.replace("counter", "counter packets 3 bytes 180"));
    chains.set(key, own);
  }
  const listing = [...chains].map(([key, own]) => `${key}\n${own.join("\n")}\n }\n}`).join("\n");
  return savedRules({ iptables: undefined, ip6tables: undefined, nft: listing });
}

const ALL = "-p 15001 -z 15006 -u 1337 -i * -b *";

/** Arguments, packet, and what becomes of it. */
const CASES: readonly (readonly [string, string, string])[] = [
  [ALL, "to 10.0.0.1:80 by 0", "redirect 15001"],
  [ALL, "to 10.0.0.1:80 by ?", "unknown"],
  [ALL, "to 10.0.0.1:80 by 1337", "pass"],
  [ALL, `to lo ${POD}:80 by 0`, "pass"],
  [ALL, `to lo ${POD}:80 by 1337`, "redirect 15006"],
  [ALL, "to lo 127.0.0.1:80 by 0", "pass"],
  [ALL, "from 10.0.0.1 to 8080", "redirect 15006"],
  [`${ALL} -d 8080,9000-9010`, "from 10.0.0.1 to 9005", "pass"],
  [`${ALL} -d 8080`, "from 10.0.0.1 to 8081", "redirect 15006"],
  [`${ALL} -o 3306`, "to 10.0.0.1:3306 by 0", "pass"],
  [`${ALL} -x 10.1.0.0/16`, "to 10.1.2.3:80 by 0", "pass"],
  [`${ALL} --exclude-uid 1000`, "to 10.0.0.1:80 by 1000", "pass"],
  [`${ALL} -c eth0`, "from 10.0.0.1 to 8080", "pass"],
  ["-i 10.0.0.0/8 -b *", "to 10.0.0.1:80 by 0", "redirect 15001"],
  ["-i 10.0.0.0/8 -b *", "to 11.0.0.1:80 by 0", "pass"],
  ["-i * -b 80", "from 10.0.0.1 to 81", "pass"],
  ["-i * -b 80", "from 10.0.0.1 to 80", "redirect 15006"],
  [`${ALL} -m TPROXY`, "from 10.0.0.1 to 8080", "tproxy 15006"],
  [`${ALL} -m TPROXY`, "to 10.0.0.1:80 by 0", "redirect 15001"],
  [`${ALL} --drop-invalid`, "from 10.0.0.1 to 8080", "redirect 15006"],
  [`${ALL} --redirect-dns`, "to 10.96.0.10:53 by 0", "redirect 15053"],
  [`${ALL} -k eth0`, "from 10.0.0.1 to 8080", "redirect 15001"],
];

for (const [line, sent, expected] of CASES) {
  for (const [name, rules] of [["iptables", planned(line)], ["nft", inNft(line)]] as const) {
    Deno.test(`trace (${name}): ${line}: ${sent}: ${expected}`, () => {
      const { fate } = trace(rules.rules, packet(sent));
      assert.equal("port" in fate ? `${fate.kind} ${fate.port}` : fate.kind, expected);
    });
  }
}

Deno.test("trace: the rule that decides has chain, place and counter", () => {
  const rules = savedRules({
    iptables: "*nat\n:ISTIO_OUTPUT - [0:0]\n[7:420] -A OUTPUT -j ISTIO_OUTPUT\n" +
      "[0:0] -A ISTIO_OUTPUT -d 10.9.9.9/32 -j RETURN\n[5:300] -A ISTIO_OUTPUT -d 10.1.0.0/16 -j RETURN\nCOMMIT\n",
    ip6tables: undefined,
    nft: undefined,
  });
  const { decided, passed } = trace(rules.rules, packet("to 10.1.0.1:80 by 0"));
  assert.deepEqual([decided?.chain, decided?.place, decided?.packets], ["ISTIO_OUTPUT", 2, 5]);
  assert.deepEqual(passed.map(({ chain }) => chain), ["OUTPUT", "ISTIO_OUTPUT"]);
});

Deno.test("trace: a loop of foreign chains has an unknown fate; a drop is reported", () => {
  const of = (text: string) => savedRules({ iptables: text, ip6tables: undefined, nft: undefined }).rules;
  const circle = of("*nat\n-A OUTPUT -j A\n-A A -j B\n-A B -j A\nCOMMIT");
  assert.equal(trace(circle, packet("to 10.1.0.1:80 by 0")).fate.kind, "unknown");
  const dropped = of(
    "*filter\n-A OUTPUT -p tcp -m tcp --dport 80 -j REJECT --reject-with icmp-port-unreachable\nCOMMIT",
  );
  assert.equal(trace(dropped, packet("to 10.1.0.1:80 by 0")).fate.kind, "drop");
  const odd = of("*nat\n-A OUTPUT -m string --string x --algo bm -j RETURN\nCOMMIT");
  assert.equal(trace(odd, packet("to 10.1.0.1:80 by 0")).fate.kind, "unknown");
  const chain = of("*nat\n-A OUTPUT -j constructor\n-A constructor -j DROP\nCOMMIT");
  assert.equal(trace(chain, packet("to 10.1.0.1:80 by 0")).fate.kind, "drop");
});

Deno.test("plannedRules: arguments that istio-iptables refuses are reported", () => {
  assert.match(String(plannedRules(["-p", "x"], { hasIpv6: false, dnsServers: [] })), /-p|port/i);
});
