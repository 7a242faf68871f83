/** Builds the rule that selects the packets to trace: the first packets of a flow. */
import type { Address } from "../../golang/net/mod.ts";
import {
  ADDRESS,
  BASE,
  COMPARE,
  type Expression,
  expression,
  META,
  REGISTER,
} from "../kernel/netfilter/expressions.ts";
import { FAMILY_NUMBERS } from "../kernel/netlink.ts";

/** A flow to trace. An absent field matches every value. */
export interface Flow {
  readonly protocol: "tcp" | "udp";
  /** The destination of a flow that this pod sends. */
  readonly to?: { readonly address: Address; readonly port: number };
  /** The sender of a flow that this pod receives. */
  readonly from?: Address;
}

const PROTOCOLS = { tcp: 6, udp: 17 } as const;
/** The `meta` key that turns on tracing (NFT_META_NFTRACE). */
const TRACE = 12;
/** Offset of the flags in the TCP header. Only the first packet of a connection has SYN without ACK. */
const TCP_FLAGS = 13;
const SYN = 0x02;
const SYN_OR_ACK = 0x12;

/** Returns a rule that turns on tracing for the first packets of the flow. */
export function traceRule({ protocol, to, from }: Flow): Expression[] {
  return [
    ...is(expression("meta", { key: META.l4proto, register: REGISTER }), Uint8Array.of(PROTOCOLS[protocol])),
    ...to === undefined ? [] : [...address(to.address, "destination"), ...port(to.port)],
    ...from === undefined ? [] : address(from, "source"),
    ...protocol === "tcp" ? firstOfTcp() : [],
    expression("immediate", { register: REGISTER, data: Uint8Array.of(1) }),
    expression("meta", { key: TRACE, source: REGISTER }),
  ];
}

function is(load: Expression, data: Uint8Array): Expression[] {
  return [load, expression("cmp", { source: REGISTER, operator: COMPARE.equal, data })];
}

function address({ family, value }: Address, side: "source" | "destination"): Expression[] {
  const { size, [side]: offset } = ADDRESS[family];
  const bytes = Uint8Array.from({ length: size }, (_, at) => Number(value >> BigInt(8 * (size - 1 - at)) & 0xffn));
  return [
    ...is(expression("meta", { key: META.nfproto, register: REGISTER }), Uint8Array.of(FAMILY_NUMBERS[family])),
    ...is(expression("payload", { register: REGISTER, base: BASE.network, offset, size }), bytes),
  ];
}

function port(number: number): Expression[] {
  const load = expression("payload", { register: REGISTER, base: BASE.transport, offset: 2, size: 2 });
  return is(load, Uint8Array.of(number >> 8, number & 0xff));
}

function firstOfTcp(): Expression[] {
  const data = (byte: number) => Uint8Array.of(byte);
  return [
    expression("payload", { register: REGISTER, base: BASE.transport, offset: TCP_FLAGS, size: 1 }),
    ...is(
      expression("bitwise", {
        ...{ source: REGISTER, register: REGISTER, size: 1 },
        ...{ mask: data(SYN_OR_ACK), xor: data(0) },
      }),
      data(SYN),
    ),
  ];
}
