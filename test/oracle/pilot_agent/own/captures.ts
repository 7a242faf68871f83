/** Named cases of traffic capture, each with both back ends. Istio's answers are recorded. */
import type { CaptureCase } from "../../../support/cases/capture.ts";

/** A case: the arguments, and the pod in which they are used. */
export interface NamedCapture {
  readonly name: string;
  /** Cases in `../shared/cases/iptables` that show the same feature, without the name of the back end. */
  readonly like: readonly string[];
  /** The arguments, separated by spaces; `''` is an empty argument. */
  readonly flags: string;
  readonly env?: Readonly<Record<string, string>>;
  readonly addresses?: readonly string[];
  readonly resolver?: string;
  /** Whether the settings are invalid. */
  readonly fails?: boolean;
}

const V4 = ["10.7.7.7"];
const V6 = ["2001:db8:7::7"];
const AS = "-u 1337 -g 1337";
const CNI = `${AS} -m REDIRECT -i *`;

export const CAPTURES: readonly NamedCapture[] = [
  { name: "nothing but the users", like: ["iptables/empty"], flags: AS },
  {
    name: "IPv6 without inbound ports",
    like: ["iptables/ipv6-empty-inbound-ports"],
    flags: `${AS} -b ''`,
    addresses: V6,
  },
  {
    name: "ranges in and out, DNS, two users and groups",
    like: ["iptables/ip-range"],
    flags: "-u 5,6 -g 7,8 -i 172.16.0.0/12 -x 172.17.0.0/16 --redirect-dns",
    resolver: "nameserver 127.0.0.53\n",
  },
  { name: "IPv6, inbound ports", like: ["iptables/ipv6-inbound-ports"], flags: `${AS} -b 6000,7000`, addresses: V6 },
  {
    name: "ranges of IPv6, virtual interfaces, an excluded port with a comma behind",
    like: ["iptables/ipv6-ipnets"],
    flags: `${AS} -b 6000 -d 6100,6200, -k net1,net2 -x 2001:db8:8::/48 -i 2001:db8::/32`,
    addresses: V6,
  },
  {
    name: "IPv6, outbound ports",
    like: ["iptables/ipv6-outbound-ports"],
    flags: `${AS} -b '' -q 5432,6379`,
    addresses: V6,
  },
  {
    name: "virtual interfaces and all ranges",
    like: ["iptables/kube-virt-interfaces"],
    flags: `${AS} -k net1,net2 -i *`,
  },
  { name: "one range", like: ["iptables/ipnets"], flags: `${AS} -i 172.16.0.0/12` },
  { name: "all inbound ports", like: ["iptables/inbound-ports-wildcard"], flags: `${AS} -b *` },
  {
    name: "all inbound ports by TPROXY",
    like: ["iptables/inbound-ports-wildcard-tproxy"],
    flags: `${AS} -b * -m TPROXY`,
  },
  { name: "some inbound ports by TPROXY", like: [], flags: `${AS} -b 80,443 -d 8080 -m TPROXY` },
  {
    name: "DNS with servers of both families",
    like: ["iptables/dns-uid-gid"],
    flags: "-u 5,6 -g 7,8 --redirect-dns",
    addresses: V6,
    resolver: "nameserver 10.0.0.10\nnameserver 2001:db8::53\n",
  },
  {
    name: "groups that are not captured",
    like: ["iptables/outbound-owner-groups-exclude"],
    flags: AS,
    env: { ISTIO_OUTBOUND_OWNER_GROUPS_EXCLUDE: "999,ftp" },
  },
  {
    name: "groups that alone are captured, DNS without servers",
    like: ["iptables/ipv6-dns-outbound-owner-groups"],
    flags: `${AS} --redirect-dns`,
    env: { ISTIO_OUTBOUND_OWNER_GROUPS: "java,303" },
    addresses: V6,
    resolver: "search example.org\n",
  },
  { name: "an interface that is not captured", like: ["iptables/basic-exclude-nic"], flags: `${AS} -c eth7` },
  { name: "invalid packets are dropped", like: ["iptables/drop-invalid"], flags: `${AS} --drop-invalid` },
  {
    name: "another loopback range",
    like: ["iptables/host-ipv4-loopback-cidr"],
    flags: AS,
    env: { ISTIO_OUTBOUND_IPV4_LOOPBACK_CIDR: "127.0.0.1/16" },
  },
  { name: "the CNI plugin's arguments", like: ["cni/basic"], flags: `${CNI} -b * -d 15090,15021,15020 -o 15020` },
  {
    name: "the CNI plugin's arguments with ports",
    like: ["cni/include-exclude-ports"],
    flags: `${CNI} -b 1212,2323 -d 3434,15090,15021,15020 -o 5656,6767`,
  },
  {
    name: "the CNI plugin's arguments with DNS",
    like: ["cni/dns"],
    flags: `${CNI} -b * -d 15090 -o 15020 --redirect-dns --capture-all-dns`,
  },
  {
    name: "the CNI plugin's arguments, invalid packets",
    like: ["cni/invalid-drop"],
    flags: `${CNI} -b * -d 15090 -o 15020 --drop-invalid`,
  },
  {
    name: "the CNI plugin's arguments, users of OpenShift",
    like: ["cni/custom-uid"],
    flags: "-m REDIRECT -u 1000660000 -g 1000660001 -i * -b * -d 15090 -o 15020",
  },
  {
    name: "the arguments that today's injector writes",
    like: ["extra-iptables/k8s-injected-default"],
    flags: "-p 15001 -z 15006 -u 1337 -m REDIRECT -i * -x '' -b * -d 15090,15021,15020",
  },
  {
    name: "the arguments that the injector of 1.1 wrote",
    like: ["extra-iptables/istio-1.1-injected"],
    flags: "-p 15001 -u 1337 -m REDIRECT -i * -x '' -b 8443 -d 15020",
  },
  {
    name: "outbound ports that are not captured",
    like: ["extra-iptables/outbound-ports-exclude"],
    flags: `${AS} -i * -o 25,587`,
  },
  {
    name: "all inbound ports but some",
    like: ["extra-iptables/inbound-wildcard-exclude"],
    flags: `${AS} -b * -d 2222,15090`,
  },
  {
    name: "other ports of Envoy",
    like: ["extra-iptables/custom-ports"],
    flags: `${AS} -p 17001 -z 17006 -e 17008 -b * -i *`,
  },
  {
    name: "all DNS",
    like: ["extra-iptables/capture-all-dns"],
    flags: `${AS} --redirect-dns --capture-all-dns -i *`,
  },
  {
    name: "two families",
    like: ["extra-iptables/dual-stack-all"],
    flags: `${AS} --dual-stack -b * -i * -d 15090`,
    addresses: [...V4, ...V6],
  },
  {
    name: "all ranges but some",
    like: ["extra-iptables/wildcard-with-exclude-cidrs"],
    flags: `${AS} -i * -x 172.16.0.0/12,10.9.0.0/16`,
  },
  {
    name: "a virtual machine: all from the environment",
    like: ["extra-iptables/vm-sidecar-env"],
    flags: "",
    env: {
      ISTIO_INBOUND_PORTS: "*",
      ISTIO_LOCAL_EXCLUDE_PORTS: "22,15090",
      ISTIO_SERVICE_CIDR: "*",
      ISTIO_SERVICE_EXCLUDE_CIDR: "169.254.0.0/16,172.16.0.0/12",
      ISTIO_META_DNS_CAPTURE: "true",
      PROXY_UID: "1337",
      PROXY_GID: "1337",
    },
    resolver: "nameserver 127.0.0.53\n",
  },
  { name: "a flag that does not exist", like: ["error/err-unknown-flag"], flags: "--no-such-flag", fails: true },
  {
    name: "a port out of range",
    like: ["error/err-probe-port-range"],
    flags: "--iptables-probe-port 70000",
    fails: true,
  },
  { name: "a switch with a text", like: ["error/err-bad-bool"], flags: "--redirect-dns=perhaps", fails: true },
  { name: "a range that is none", like: ["error/err-include-not-cidr"], flags: "-i here", fails: true },
  { name: "all ranges excluded", like: ["error/err-exclude-star"], flags: "-x *", fails: true },
  { name: "a prefix that is too long", like: ["error/err-exclude-prefix"], flags: "-x 172.16.0.0/33", fails: true },
  {
    name: "a binary that does not exist",
    like: ["error/err-force-binary"],
    flags: "--force-iptables-binary none",
    fails: true,
  },
  {
    name: "a loopback range without a prefix",
    like: ["error/err-loopback-parse"],
    flags: "",
    env: { ISTIO_OUTBOUND_IPV4_LOOPBACK_CIDR: "127.0.0.1" },
    fails: true,
  },
];

/** Returns the cases as questions, each with both back ends. */
export function namedCaptures(): (CaptureCase & { readonly name: string })[] {
  return CAPTURES.flatMap(({ name, flags, env = {}, addresses = V4, resolver = "" }) =>
    (["iptables", "nft"] as const).map((backend) => ({
      name: `${name}, ${backend}`,
      flags: flags.split(" ").filter((flag) => flag !== "").map((flag) => flag === "''" ? "" : flag),
      env,
      backend,
      setup: { local_ips: addresses, resolv_conf: resolver },
    }))
  );
}
