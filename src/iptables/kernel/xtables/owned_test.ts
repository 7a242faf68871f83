import assert from "node:assert/strict";
import { ownedRules } from "./owned.ts";
import { parseSave } from "./save.ts";

const NAMES = { users: new Map<string, number>(), groups: new Map<string, number>() };

/** The owned rules in built-in chains. */
function owned(text: string): string[] {
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

/** Name, kernel state, owned rules in built-in chains. */
const CASES: readonly (readonly [string, string, readonly string[]])[] = [
  ["jumps to owned chains, in every spelling", table("nat", ["ISTIO_OUTPUT"], [JUMP, OTHER]), [JUMP]],
  ["nothing without owned chains", table("nat", [], [IN, OUT, OTHER]), []],
  [
    "an excluded interface stands before both jumps",
    table("nat", ["ISTIO_OUTPUT"], [IN, INBOUND, OUT, JUMP]),
    [INBOUND, JUMP, IN, OUT],
  ],
  [
    "a rule for an interface in one direction is foreign",
    table("nat", ["ISTIO_OUTPUT"], [IN, INBOUND, JUMP]),
    [INBOUND, JUMP],
  ],
  [
    "rules for an interface before foreign rules are foreign",
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
    "a foreign rule for INVALID, beside an old release",
    table("nat", ["ISTIO_OUTPUT"], [OLD_JUMP]) + table("mangle", [], ["-A FORWARD -j ACCEPT", INVALID]),
    [OLD_JUMP],
  ],
  [
    "a foreign rule for INVALID, beside a release with a chain for it",
    table("nat", ["ISTIO_OUTPUT"], [JUMP]) + table("mangle", [], [INVALID]),
    [JUMP],
  ],
  [
    "foreign connection marks are not taken for TPROXY's",
    table("mangle", ["ISTIO_INBOUND"], [
      "-A PREROUTING -i eni+ -j CONNMARK --restore-mark --nfmask 0x80 --ctmask 0x80",
      "-A PREROUTING -p tcp -m mark --mark 0x539 -j CONNMARK --save-mark --nfmask 0xffffffff --ctmask 0xffffffff",
    ]),
    ["-A PREROUTING -p tcp -m mark --mark 0x539 -j CONNMARK --save-mark --nfmask 0xffffffff --ctmask 0xffffffff"],
  ],
];

for (const [name, text, expected] of CASES) {
  Deno.test(`ownedRules: ${name}`, () => assert.deepEqual(owned(text).sort(), [...expected].sort()));
}
