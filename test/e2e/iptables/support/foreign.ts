/** Rules of others, as container networks, kube-proxy, Docker and administrators leave them in a pod or on a node. */
import type { Namespace } from "./pod.ts";

/** Rules of one family, as input of `iptables-restore`. */
function rules(address: string, service: string): string {
  return `*nat
:KUBE-SERVICES - [0:0]
:KUBE-SVC-ABCDEF - [0:0]
:KUBE-POSTROUTING - [0:0]
:CNI-HOSTPORT-DNAT - [0:0]
:DOCKER_OUTPUT - [0:0]
-A PREROUTING -m comment --comment "kubernetes service portals" -j KUBE-SERVICES
-A PREROUTING -m addrtype --dst-type LOCAL -j CNI-HOSTPORT-DNAT
-A PREROUTING -i eni0 -j RETURN
-A OUTPUT -o docker0 -j RETURN
-A OUTPUT -m comment --comment "kubernetes service portals" -j KUBE-SERVICES
-A OUTPUT -d ${address} -j DOCKER_OUTPUT
-A POSTROUTING -m comment --comment "kubernetes postrouting rules" -j KUBE-POSTROUTING
-A KUBE-SERVICES -d ${service} -p tcp -m comment --comment "default/web:http cluster IP" -m tcp --dport 80 -j KUBE-SVC-ABCDEF
-A KUBE-POSTROUTING -m mark ! --mark 0x4000/0x4000 -j RETURN
-A KUBE-POSTROUTING -j MASQUERADE
-A DOCKER_OUTPUT -d ${address} -p udp -m udp --dport 53 -j RETURN
COMMIT
*mangle
:KUBE-KUBELET-CANARY - [0:0]
-A PREROUTING -i eni+ -m comment --comment "AWS, primary ENI" -j CONNMARK --restore-mark --nfmask 0x80 --ctmask 0x80
-A PREROUTING -m conntrack --ctstate INVALID -j DROP
-A OUTPUT -p tcp -m mark --mark 0x20 -j RETURN
COMMIT
*raw
-A PREROUTING -p udp -m udp --sport 53 -j CT --zone 7
-A OUTPUT -p udp -m udp --dport 8472 -j CT --notrack
COMMIT
*filter
:KUBE-FIREWALL - [0:0]
-A INPUT -m conntrack --ctstate ESTABLISHED -j ACCEPT
-A INPUT -i lo -j ACCEPT
-A INPUT -j KUBE-FIREWALL
-A OUTPUT -j KUBE-FIREWALL
-A KUBE-FIREWALL -m mark --mark 0x8000/0x8000 -j DROP
COMMIT
`;
}

const NFT = `table inet foreign { chain istio-like { type filter hook input priority 0; counter accept; }; }
table ip kube-proxy { chain services { counter; }; }
`;

const ROUTING = `ip rule add fwmark 0x80/0x80 lookup 200
ip rule add fwmark 512/0xf00 lookup 2004
ip rule add fwmark 7 lookup 2004
ip route add local default dev lo table 2004
ip -6 rule add fwmark 7 lookup 2004
ip -6 route add local default dev lo table 2004`;

/** Adds such rules of both families to these back ends, and nftables tables and routes in any case. */
export async function addForeign(namespace: Namespace, variants: readonly ("nft" | "legacy")[]): Promise<void> {
  for (const variant of variants) {
    await restore(namespace, `iptables-${variant}-restore`, rules("10.9.9.9/32", "10.96.0.10/32"));
    await restore(namespace, `ip6tables-${variant}-restore`, rules("fd99::99/128", "fd96::10/128"));
  }
  await restore(namespace, "nft", NFT, ["-f", "-"]);
  await namespace.shell(ROUTING);
}

async function restore(namespace: Namespace, command: string, stdin: string, args: readonly string[] = []) {
  const { code, stderr } = await namespace.run(command, args, { stdin });
  if (code !== 0) throw new Error(`${command}: ${stderr}`);
}
