import assert from "node:assert/strict";
import { diagnose } from "./diagnosis.ts";

const RULES = `*nat
:ISTIO_OUTPUT - [0:0]
-A ISTIO_OUTPUT -m owner --uid-owner 1337 -j RETURN
-A ISTIO_OUTPUT -p tcp -j REDIRECT --to-ports 15001
COMMIT
`;

const NFT = `add table inet istio-proxy-nat
add chain inet istio-proxy-nat output { type nat hook output priority -100 ; }
add rule inet istio-proxy-nat istio-redirect meta l4proto tcp counter redirect to :15001
`;

/** Messages of programs on incomplete kernels and containers, and the expected hint. */
const SAID: readonly (readonly [string, RegExp])[] = [
  [
    "iptables-restore v1.8.9 (nf_tables): Could not fetch rule set generation id: Permission denied (you must be root)",
    /NET_ADMIN/,
  ],
  ["Error: cache initialization failed: Operation not permitted", /NET_ADMIN/],
  [
    "iptables v1.8.7 (legacy): can't initialize iptables table `nat': Permission denied (you must be root)",
    /NET_ADMIN/,
  ],
  [
    "iptables v1.6.1: can't initialize iptables table `nat': Table does not exist (do you need to insmod?)",
    /modprobe iptable_nat/,
  ],
  ["iptables-restore v1.8.4 (legacy): iptables-restore: unable to initialize table 'nat'", /modprobe iptable_nat/],
  ["ip6tables-restore v1.8.4 (legacy): ip6tables-restore: unable to initialize table 'nat'", /IPv6.*ip6table_nat/],
  [
    "ip6tables v1.8.9 (legacy): can't initialize ip6tables table `nat': Table does not exist (do you need to insmod?)",
    /IPv6.*ip6table_nat/,
  ],
  [
    "iptables-nft-restore: line 3: RULE_APPEND failed (Operation not supported): rule in chain ISTIO_OUTPUT",
    /xt_owner$/,
  ],
  ["iptables-nft-restore: line 4: RULE_APPEND failed (No such file or directory): rule in chain OUTPUT", /xt_REDIRECT/],
  ["Warning: Extension owner revision 0 not supported, missing kernel module?", /modprobe xt_owner$/],
  ["iptables-restore v1.8.9 (legacy): Couldn't load match `owner':No such file or directory", /modprobe xt_owner$/],
  ["iptables: No chain/target/match by that name.; iptables-restore: line 3 failed", /xt_owner$/],
  ["Fatal: can't open lock file /run/xtables.lock: Read-only file system", /XTABLES_LOCKFILE/],
  [
    "Can't lock /run/xtables.lock: Resource temporarily unavailable; Another app is currently holding the xtables lock. Stopped waiting after 1s.",
    /--wait/,
  ],
  ["iptables-restore v1.8.9 (nf_tables): table `nat' is incompatible, use 'nft' tool.", /--native-nftables/],
  ["netlink: Error: cache initialization failed: Protocol not supported", /modprobe nf_tables/],
  ['iptables-restore v1.8.9 (nf_tables): Bad value for "--uid-owner" option: "envoy"', /use its number/],
];

for (const [said, hint] of SAID) {
  Deno.test(`diagnose: ${said}`, () => assert.match(diagnose(said, RULES).hint ?? "", hint));
}

Deno.test("diagnose: the nftables module for a line", () => {
  const said = "/dev/stdin:3:1-87: Error: Could not process rule: No such file or directory";
  const { line, hint } = diagnose(said, NFT);
  assert.match(line ?? "", /redirect to :15001$/);
  assert.match(hint ?? "", /modprobe nft_redir$/);
});

Deno.test("diagnose: no hint for an unknown message", () => {
  assert.deepEqual(diagnose("Segmentation fault", RULES), {});
});
