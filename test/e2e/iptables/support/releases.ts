/** Rules of Istio's releases, each with the options that change its rules most. */
import type { Namespace } from "./pod.ts";

/** Rules of a release: a text for `iptables-restore --noflush` of each family, and routing. */
export interface Release {
  readonly name: string;
  readonly ipv4: string;
  readonly ipv6?: string;
  readonly routing?: string;
}

const POLICY_RULE = "ip rule add fwmark 1337 lookup 133";
const POLICY_ROUTES = "ip rule add fwmark 1337 lookup 133; ip route add local default dev lo table 133";
const POLICY_ROUTES_IPV6 = POLICY_ROUTES.replaceAll("ip r", "ip -6 r");
const PROXY_ADDRESS = "ip -6 addr add ::6/128 dev lo";

/** Until 1.4 a pod without an IPv6 address rejected IPv6 traffic. */
const BLOCKED_IPV6 = `*filter
-A INPUT -m state --state ESTABLISHED -j ACCEPT
-A INPUT -i lo -d ::1 -j ACCEPT
-A INPUT -j REJECT
COMMIT
`;

const SHELL_CHAINS = `-N ISTIO_REDIRECT
-N ISTIO_IN_REDIRECT
-N ISTIO_OUTPUT
-A ISTIO_REDIRECT -p tcp -j REDIRECT --to-port 15001
-A ISTIO_IN_REDIRECT -p tcp -j REDIRECT --to-port 15001
-A OUTPUT -p tcp -j ISTIO_OUTPUT
-A ISTIO_OUTPUT -o lo ! -d 127.0.0.1/32 -j ISTIO_REDIRECT
-A ISTIO_OUTPUT -m owner --uid-owner 1337 -j RETURN
-A ISTIO_OUTPUT -m owner --uid-owner 0 -j RETURN
-A ISTIO_OUTPUT -m owner --gid-owner 1337 -j RETURN
-A ISTIO_OUTPUT -d 127.0.0.1/32 -j RETURN
-A ISTIO_OUTPUT -d 10.0.0.0/8 -j ISTIO_REDIRECT
-A ISTIO_OUTPUT -j RETURN
`;

/** The outbound rules that all releases from 1.5 to 1.24 have in common. */
function outbound(loopback: string, source: string, dns: string): string {
  return `-A OUTPUT -p tcp -j ISTIO_OUTPUT
-A ISTIO_OUTPUT -o lo -s ${source} -j RETURN
-A ISTIO_OUTPUT -o lo ! -d ${loopback} -p tcp ! --dport 53 -m owner --uid-owner 1337 -j ISTIO_IN_REDIRECT
-A ISTIO_OUTPUT -m owner --uid-owner 1337 -j RETURN
-A ISTIO_OUTPUT -m owner --gid-owner 1337 -j RETURN
${dns}-A ISTIO_OUTPUT -d ${loopback} -j RETURN
-A ISTIO_OUTPUT -j ISTIO_REDIRECT
`;
}

const GO_CHAINS = `-N ISTIO_INBOUND
-N ISTIO_REDIRECT
-N ISTIO_IN_REDIRECT
-N ISTIO_OUTPUT
-A ISTIO_REDIRECT -p tcp -j REDIRECT --to-ports 15001
-A ISTIO_IN_REDIRECT -p tcp -j REDIRECT --to-ports 15006
`;

const REDIRECTED = `-A PREROUTING -p tcp -j ISTIO_INBOUND
-A ISTIO_INBOUND -p tcp --dport 15008 -j RETURN
-A ISTIO_INBOUND -p tcp --dport 22 -j RETURN
-A ISTIO_INBOUND -p tcp -j ISTIO_IN_REDIRECT
`;

/** DNS rules of 1.8 to 1.24, directly in the built-in chains. */
const DIRECT_DNS = `-A OUTPUT -p udp --dport 53 -m owner --uid-owner 1337 -j RETURN
-A OUTPUT -p udp --dport 53 -m owner --gid-owner 1337 -j RETURN
-A OUTPUT -p udp --dport 53 -d 10.96.0.10/32 -j REDIRECT --to-port 15053
`;

const DIRECT_ZONES = `*raw
-A OUTPUT -p udp --dport 53 -m owner --uid-owner 1337 -j CT --zone 1
-A OUTPUT -p udp --sport 15053 -m owner --uid-owner 1337 -j CT --zone 2
-A OUTPUT -p udp --dport 53 -m owner --gid-owner 1337 -j CT --zone 1
-A OUTPUT -p udp --sport 15053 -m owner --gid-owner 1337 -j CT --zone 2
-A OUTPUT -p udp --dport 53 -d 10.96.0.10/32 -j CT --zone 2
-A PREROUTING -p udp --sport 53 -s 10.96.0.10/32 -j CT --zone 1
COMMIT
`;

function tproxy(known: string, marks: string, first = ""): string {
  return `*mangle
${first}-N ISTIO_DIVERT
-N ISTIO_TPROXY
-N ISTIO_INBOUND
-A ISTIO_DIVERT -j MARK --set-mark 1337
-A ISTIO_DIVERT -j ACCEPT
-A ISTIO_TPROXY ! -d 127.0.0.1/32 -p tcp -j TPROXY --tproxy-mark 1337/0xffffffff --on-port 15006
-A PREROUTING -p tcp -j ISTIO_INBOUND
-A ISTIO_INBOUND -p tcp --dport 22 -j RETURN
-A ISTIO_INBOUND -p tcp ${known} -j ISTIO_DIVERT
-A ISTIO_INBOUND -p tcp -j ISTIO_TPROXY
${marks}COMMIT
`;
}

const CONNECTION_MARKS = `-A PREROUTING -p tcp -m mark --mark 1337 -j CONNMARK --save-mark
-A OUTPUT -p tcp -o lo -m mark --mark 1337 -j RETURN
-A OUTPUT ! -d 127.0.0.1/32 -p tcp -o lo -m owner --uid-owner 1337 -j MARK --set-mark 1338
-A OUTPUT ! -d 127.0.0.1/32 -p tcp -o lo -m owner --gid-owner 1337 -j MARK --set-mark 1338
-A OUTPUT -p tcp -m connmark --mark 1337 -j CONNMARK --restore-mark
-I ISTIO_INBOUND 1 -p tcp -m mark --mark 1337 -j RETURN
`;

const EXCLUDED_INTERFACE = `-A PREROUTING -i net1 -j RETURN
-A OUTPUT -o net1 -j RETURN
`;

function nat(...parts: readonly string[]): string {
  return `*nat\n${parts.join("")}COMMIT\n`;
}

export const RELEASES: readonly Release[] = [
  {
    name: "1.0, shell script, REDIRECT",
    ipv4: nat("-N ISTIO_INBOUND\n", SHELL_CHAINS, REDIRECTED),
    ipv6: BLOCKED_IPV6,
  },
  {
    name: "1.1, shell script, TPROXY and virtual interfaces",
    ipv4: nat(
      SHELL_CHAINS,
      "-I PREROUTING 1 -i tap0 -j RETURN\n-I PREROUTING 1 -i tap1 -j RETURN\n",
      "-I PREROUTING 1 -i tap0 -d 10.0.0.0/8 -j ISTIO_REDIRECT\n-I PREROUTING 1 -i tap1 -d 10.0.0.0/8 -j ISTIO_REDIRECT\n",
    ) + tproxy("-m socket", ""),
    ipv6: BLOCKED_IPV6,
    routing: POLICY_ROUTES,
  },
  {
    name: "1.5, both families",
    ipv4: nat(GO_CHAINS, REDIRECTED, outbound("127.0.0.1/32", "127.0.0.6/32", "")),
    ipv6: nat(GO_CHAINS, REDIRECTED, outbound("::1/128", "::6/128", "")),
    routing: PROXY_ADDRESS,
  },
  {
    name: "1.8, DNS",
    ipv4: nat(GO_CHAINS, REDIRECTED, outbound("127.0.0.1/32", "127.0.0.6/32", ""), DIRECT_DNS) + DIRECT_ZONES,
  },
  {
    name: "1.12, TPROXY, DNS, excluded interface, trace logging",
    ipv4: nat(
      GO_CHAINS,
      EXCLUDED_INTERFACE,
      '-A OUTPUT -p tcp -j NFLOG --nflog-prefix "OutboundCapture" --nflog-group 1337 --nflog-size 20\n',
      "-A ISTIO_INBOUND -p tcp --dport 15008 -j RETURN\n",
      outbound("127.0.0.1/32", "127.0.0.6/32", "-A ISTIO_OUTPUT -p tcp --dport 53 -j REDIRECT --to-ports 15053\n"),
      DIRECT_DNS,
    ) + tproxy("-m conntrack --ctstate RELATED,ESTABLISHED", CONNECTION_MARKS, EXCLUDED_INTERFACE) + DIRECT_ZONES,
    routing: POLICY_ROUTES,
  },
  {
    name: "1.13, INVALID dropped",
    ipv4: nat(GO_CHAINS, REDIRECTED, outbound("127.0.0.1/32", "127.0.0.6/32", "")) +
      "*mangle\n-A PREROUTING -m conntrack --ctstate INVALID -j DROP\nCOMMIT\n",
  },
  {
    name: "1.24, TPROXY, both families",
    ipv4: nat(GO_CHAINS, outbound("127.0.0.1/32", "127.0.0.6/32", "")) +
      tproxy("-m conntrack --ctstate RELATED,ESTABLISHED", CONNECTION_MARKS),
    ipv6: nat(GO_CHAINS, outbound("::1/128", "::6/128", "")) +
      tproxy("-m conntrack --ctstate RELATED,ESTABLISHED", CONNECTION_MARKS).replaceAll("127.0.0.1/32", "::1/128"),
    // Each run of Istio's program added one more policy rule.
    routing: `${POLICY_ROUTES}; ${POLICY_RULE}; ${POLICY_ROUTES_IPV6}; ${PROXY_ADDRESS}`,
  },
];

/** Puts the rules of a release into a back end of a namespace. */
export async function addRelease(namespace: Namespace, release: Release, variant: "nft" | "legacy"): Promise<void> {
  const load = async (command: string, stdin: string) => {
    const { code, stderr } = await namespace.run(command, ["--noflush"], { stdin });
    if (code !== 0) throw new Error(`${release.name}: ${command}: ${stderr}`);
  };
  await load(`iptables-${variant}-restore`, release.ipv4);
  if (release.ipv6 !== undefined) await load(`ip6tables-${variant}-restore`, release.ipv6);
  if (release.routing !== undefined) await namespace.shell(release.routing);
}
