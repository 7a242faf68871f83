import assert from "node:assert/strict";
import { ownedRules } from "./owned.ts";
import { parseSave } from "./save.ts";

const NAMES = { users: new Map<string, number>(), groups: new Map<string, number>() };

/** The rules in built-in chains that are held to be ours. */
function ours(text: string): string[] {
  return [...ownedRules(parseSave(text, NAMES))].map((rule) => `-A ${rule.chain} ${rule.text}`);
}

function table(name: string, chains: readonly string[], rules: readonly string[]): string {
  return [`*${name}`, ...chains.map((chain) => `:${chain} - [0:0]`), ...rules, "COMMIT", ""].join("\n");
}

const JUMP = "-A OUTPUT -j ISTIO_OUTPUT";
const OLD_JUMP = "-A OUTPUT -p tcp -j ISTIO_OUTPUT";
const INVALID = "-A PREROUTING -m conntrack --ctstate INVALID -j DROP";
const IN = "-A PREROUTING -i eth7 -j RETURN";
const OUT = "-A OUTPUT -o eth7 -j RETURN";
const INBOUND = "-A PREROUTING -p tcp -j ISTIO_INBOUND";
const OTHER = "-A PREROUTING -j KUBE-SERVICES";

/** Each: what is there, and which of the rules in built-in chains are ours. */
const CASES: readonly (readonly [string, string, readonly string[]])[] = [
  ["jumps to our chains, however they are written", table("nat", ["ISTIO_OUTPUT"], [JUMP, OTHER]), [JUMP]],
  ["nothing without chains of ours", table("nat", [], [IN, OUT, OTHER]), []],
  [
    "an excluded interface stands before both jumps",
    table("nat", ["ISTIO_OUTPUT"], [IN, INBOUND, OUT, JUMP]),
    [INBOUND, JUMP, IN, OUT],
  ],
  [
    "a rule for an interface in one direction is of others",
    table("nat", ["ISTIO_OUTPUT"], [IN, INBOUND, JUMP]),
    [INBOUND, JUMP],
  ],
  [
    "rules for an interface that others stand behind are of others",
    table("nat", ["ISTIO_OUTPUT"], [IN, OTHER, INBOUND, OUT, JUMP]),
    [INBOUND, JUMP],
  ],
  [
    "virtual interfaces are redirected at the top, with their RETURN behind",
    table("nat", ["ISTIO_REDIRECT"], [
      "-A PREROUTING -i tap0 -j ISTIO_REDIRECT",
      "-A PREROUTING -i tap0 -j RETURN",
      OTHER,
    ]),
    ["-A PREROUTING -i tap0 -j ISTIO_REDIRECT", "-A PREROUTING -i tap0 -j RETURN"],
  ],
  [
    "INVALID dropped by an old release alone in the table",
    table("nat", ["ISTIO_OUTPUT"], [OLD_JUMP]) + table("mangle", [], [INVALID]),
    [OLD_JUMP, INVALID],
  ],
  [
    "INVALID dropped by others, beside an old release",
    table("nat", ["ISTIO_OUTPUT"], [OLD_JUMP]) + table("mangle", [], ["-A FORWARD -j ACCEPT", INVALID]),
    [OLD_JUMP],
  ],
  [
    "INVALID dropped by others, beside a release that has a chain for it",
    table("nat", ["ISTIO_OUTPUT"], [JUMP]) + table("mangle", [], [INVALID]),
    [JUMP],
  ],
  [
    "marks of connections of others are not those of TPROXY",
    table("mangle", ["ISTIO_INBOUND"], [
      "-A PREROUTING -i eni+ -j CONNMARK --restore-mark --nfmask 0x80 --ctmask 0x80",
      "-A PREROUTING -p tcp -m mark --mark 0x539 -j CONNMARK --save-mark --nfmask 0xffffffff --ctmask 0xffffffff",
    ]),
    ["-A PREROUTING -p tcp -m mark --mark 0x539 -j CONNMARK --save-mark --nfmask 0xffffffff --ctmask 0xffffffff"],
  ],
];

for (const [name, text, expected] of CASES) {
  Deno.test(`ownedRules: ${name}`, () => assert.deepEqual(ours(text).sort(), [...expected].sort()));
}
