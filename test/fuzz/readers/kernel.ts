/** What the kernel's tools list: rules that others may have added. */
import { heldContent } from "../../../src/iptables/kernel/nftables/content.ts";
import { ownedRules } from "../../../src/iptables/kernel/xtables/owned.ts";
import { parseSave } from "../../../src/iptables/kernel/xtables/save.ts";
import { decode } from "../../../src/iptables/kernel/netlink.ts";
import { isMap } from "../../../src/base/value.ts";
import { type FuzzReader, isPlainError, textOf } from "../reader.ts";
import { JSON_WORDS } from "./words.ts";

const SAVE = `# Generated
*nat
:PREROUTING ACCEPT [0:0]
:OUTPUT ACCEPT [1:2]
:ISTIO_OUTPUT - [0:0]
[3:4] -A OUTPUT -p tcp -j ISTIO_OUTPUT
-A ISTIO_OUTPUT -s 127.0.0.6/32 -o lo -m comment --comment "a \\"b\\"" -j RETURN
-A ISTIO_OUTPUT ! -d 127.0.0.1/32 -m owner --uid-owner 1337 -j ISTIO_REDIRECT
COMMIT
*mangle
-A PREROUTING -m conntrack --ctstate INVALID -j DROP
-A OUTPUT -m mark --mark 0x539 -j CONNMARK --restore-mark
COMMIT
`;
const NFT = JSON.stringify({
  nftables: [
    { metainfo: { version: "1" } },
    { table: { family: "inet", name: "istio-proxy-nat" } },
    { chain: { family: "inet", table: "istio-proxy-nat", name: "output" } },
    {
      rule: {
        family: "inet",
        table: "istio-proxy-nat",
        chain: "output",
        comment: "c",
        expr: [
          {
            match: {
              op: "!=",
              left: { payload: { protocol: "ip", field: "daddr" } },
              right: { prefix: { addr: "10.0.0.0", len: 8 } },
            },
          },
          { match: { op: "==", left: { meta: { key: "skuid" } }, right: { set: [1, { range: [2, 3] }] } } },
          { counter: { packets: 0, bytes: 0 } },
          { jump: { target: "x" } },
        ],
      },
    },
  ],
});

export const KERNEL: FuzzReader = {
  name: "kernel",
  seeds: [SAVE, NFT],
  words: [
    ...JSON_WORDS,
    "*nat\n",
    "*filter\n",
    ":A - [0:0]\n",
    "-A ",
    "-j ",
    "RETURN",
    "ISTIO_",
    "! ",
    '"',
    "\\",
    "-m ",
    "--comment ",
    "/33",
    "::/0",
    "0x",
    "\n",
  ],
  refuses: isPlainError,
  open: () => (input) => {
    const text = textOf(input);
    const names = { users: new Map([["istio-proxy", 1337]]), groups: new Map<string, number>() };
    const tables = parseSave(text, names);
    ownedRules(tables);
    decode(input, 4, 0);
    if (!text.startsWith("{")) return tables.length > 0;
    const listing: unknown = JSON.parse(text);
    if (isMap(listing)) heldContent(listing);
    return true;
  },
};
