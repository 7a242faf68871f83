import assert from "node:assert/strict";
import {
  type Attribute,
  decode,
  encode,
  nested,
  NETLINK_NETFILTER,
  textBytes,
  u32BigEndian,
} from "../kernel/netlink.ts";
import { stepOf } from "./message.ts";

const IPV4 = Uint8Array.of(0x45, 0, 0, 60, 0, 0, 0, 0, 64, 6, 0, 0, 10, 9, 0, 2, 10, 9, 0, 1);
const IPV6 = Uint8Array.from({ length: 40 }, (_, at) => at === 0 ? 0x60 : at === 23 ? 2 : at === 39 ? 1 : 0);
const TCP = Uint8Array.of(0x9c, 0x40, 0, 80, 0, 0, 0, 0);

function step(family: number, ...attributes: Attribute[]) {
  const header = Uint8Array.of(family, 0, 0, 0);
  const bytes = encode({ protocol: NETLINK_NETFILTER, type: 0xa11, flags: 0, header, attributes });
  const [message] = decode(bytes, 4, 0);
  return message === undefined ? undefined : stepOf(message);
}

const NAMES: readonly Attribute[] = [[1, textBytes("nat")], [2, textBytes("OUTPUT")], [6, u32BigEndian(7)]];

Deno.test("a rule's step has its position, its jump target and the packet's addresses", () => {
  const verdict = nested(5, [[1, u32BigEndian(-3)], [2, textBytes("ISTIO_OUTPUT")]]);
  const handle = Uint8Array.of(0, 0, 0, 0, 0, 0, 0, 9);
  assert.deepEqual(step(2, ...NAMES, [4, u32BigEndian(3)], [3, handle], verdict, [8, IPV4], [9, TCP]), {
    ...{ id: 7, table: "ip nat", chain: "OUTPUT", type: "rule", handle, code: -3, target: "ISTIO_OUTPUT" },
    ends: "10.9.0.2:40000 -> 10.9.0.1:80",
  });
});

Deno.test("IPv6 addresses have brackets", () => {
  assert.equal(step(1, ...NAMES, [4, u32BigEndian(3)], [8, IPV6], [9, TCP])?.ends, "[::2]:40000 -> [::1]:80");
});

Deno.test("the policy of a chain is its verdict", () => {
  const { type, code, table } = step(10, ...NAMES, [4, u32BigEndian(1)], [16, u32BigEndian(0)]) ?? {};
  assert.deepEqual([type, code, table], ["policy", 0, "ip6 nat"]);
});

Deno.test("a message without a type or a table is not a step, and cut headers have no addresses", () => {
  assert.equal(step(2, ...NAMES), undefined);
  assert.equal(step(2, [4, u32BigEndian(3)]), undefined);
  assert.equal(step(2, ...NAMES, [4, u32BigEndian(3)], [8, IPV4.subarray(0, 10)], [9, TCP])?.ends, undefined);
});
