/** Which tables nftables holds (nfnetlink): asked without a program, so that detection leaves no trace. */
import { ask, FLAGS, NETLINK_NETFILTER } from "./netlink.ts";
import type { SystemCalls } from "./system_calls.ts";

const GET_TABLE = 10 << 8 | 1;
const ATTRIBUTE_NAME = 1;
const FAMILIES: Readonly<Record<number, string>> = { 1: "inet", 2: "ip", 7: "bridge", 10: "ip6" };

/** Tables as `ip nat`, `inet istio-proxy-nat`. Throws `SystemError`: EPERM without NET_ADMIN, others without nf_tables. */
export function nftTables(system: SystemCalls): ReadonlySet<string> {
  const request = { protocol: NETLINK_NETFILTER, type: GET_TABLE, flags: FLAGS.dump, header: new Uint8Array(4) };
  const names = ask(system, request).map(({ header, attributes }) => {
    const name = new TextDecoder().decode(attributes.get(ATTRIBUTE_NAME)).replace(/\0$/, "");
    return `${FAMILIES[header.getUint8(0)] ?? header.getUint8(0)} ${name}`;
  });
  return new Set(names);
}
