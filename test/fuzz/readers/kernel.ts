/** Fuzzes the listings of the kernel's tools, which contain rules that others may have added. */
import { listedTables, listedText } from "../../../src/iptables/kernel/nftables/content.ts";
import { expressionsOf } from "../../../src/iptables/kernel/netfilter/expressions.ts";
import { savedText } from "../../../src/iptables/kernel/xtables/compat_text.ts";
import { ownedRules } from "../../../src/iptables/kernel/xtables/owned.ts";
import { parseSave } from "../../../src/iptables/kernel/xtables/save.ts";
import { decode } from "../../../src/iptables/kernel/netlink.ts";
import { type FuzzReader, isPlainError, textOf } from "../reader.ts";

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
const NFT = `table inet istio-proxy-nat { # handle 1
	chain output {
		type nat hook output priority -100; policy accept;
		oifname "lo" ip daddr != 10.0.0.0/8 tcp dport != { 53, 15008 } meta skuid 1337 counter packets 0 bytes 0 jump x comment "c" # handle 3
		meta l4proto tcp ct mark 0x00000539 counter packets 0 bytes 0 meta mark set ct mark
	}
}
`;

export const KERNEL: FuzzReader = {
  name: "kernel",
  seeds: [SAVE, NFT],
  words: [
    "table inet istio-proxy-nat {\n",
    "chain output {\n",
    "counter ",
    "{ ",
    "}\n",
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
    const rule = { handle: input, expressions: expressionsOf(input), userData: input };
    savedText(rule, 4);
    listedText(rule);
    return tables.length > 0 || listedTables(text, names).length > 0;
  },
};
