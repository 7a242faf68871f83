/**
 * Creates an nf_tables table that turns on tracing for one flow. The table belongs to the netlink socket that creates
 * it. The kernel removes the table when the socket is closed, even if the process is killed (NFT_TABLE_F_OWNER, since
 * Linux 5.12).
 */
import { type Address, addressBytes } from "../../golang/net/mod.ts";
import type { NetlinkSocket, SystemCalls } from "../../platform/mod.ts";
import {
  ADDRESS,
  BASE,
  compare,
  type Expression,
  expression,
  load,
  masked,
  META,
  PROTOCOL,
  REGISTER,
} from "../kernel/netfilter/expressions.ts";
import { MESSAGE } from "../kernel/netfilter/ruleset.ts";
import { changeMessages } from "../kernel/netfilter/transaction.ts";
import { batchBytes, decode, FAMILY_NUMBERS, type Message, NETLINK_NETFILTER } from "../kernel/netlink.ts";

/** A flow to trace. An absent field matches every value. */
export interface Flow {
  readonly protocol: "tcp" | "udp";
  /** The destination of a flow that this pod sends. */
  readonly to?: { readonly address: Address; readonly port: number };
  /** The sender of a flow that this pod receives. */
  readonly from?: Address;
}

/** The multicast group for trace reports (NFNLGRP_NFTRACE). */
const TRACES = 9;
/** The type of a trace report (NFT_MSG_TRACE). */
const TRACE_MESSAGE = (10 << 8) | 17;
/** Family and name of the table that turns on tracing. */
export const TRACE_TABLE = "inet kubectl-mesh-trace";
/** The priority of the tracing chain, before all chains of iptables: raw has -300. */
const FIRST = -350;
/** Hooks for received and sent packets (NF_INET_PRE_ROUTING, NF_INET_LOCAL_OUT). */
const HOOKS = { received: 0, sent: 3 } as const;
/** Size of struct nfgenmsg, in bytes. */
const HEADER = 4;

/** A running trace. */
export interface TraceSocket {
  /** Returns the trace reports that have arrived. Throws `SystemError`, with ENOBUFS if the kernel dropped reports. */
  receive(): Message[];
  /** Stops tracing and removes the table. */
  close(): void;
}

/**
 * Starts tracing a flow. Throws a `SystemError`: EPERM without NET_ADMIN, and while another trace runs in this
 * namespace.
 */
export function openTrace(system: SystemCalls, flow: Flow): TraceSocket {
  const socket = system.openNetlink(NETLINK_NETFILTER, TRACES);
  try {
    socket.send(batchBytes(changes(flow)));
    // The kernel has processed the batch when `send` returns. It replies only to report an error.
    messagesOf(socket);
  } catch (error) {
    socket.close();
    throw error;
  }
  return { receive: () => messagesOf(socket), close: () => socket.close() };
}

/**
 * Returns the batch that creates the table. The hook is output for a flow that this pod sends, and prerouting for a
 * flow that this pod receives.
 */
function changes(flow: Flow) {
  const hook = flow.to === undefined ? HOOKS.received : HOOKS.sent;
  const rule = { expressions: traceRule(flow), userData: undefined, text: "" };
  const chain = { name: "trace", base: { type: "filter", hook, priority: FIRST }, rules: [rule] };
  const table = { table: TRACE_TABLE, isReplaced: false, isOwned: true, chains: [chain], deleted: [] };
  return changeMessages({ generation: 0, tables: new Map() }, [table]).map(({ message }) => message);
}

/** The `meta` key that turns on tracing (NFT_META_NFTRACE). */
const TRACE = 12;
/** Offset of the flags in the TCP header. Only the first packet of a connection has SYN without ACK. */
const TCP_FLAGS = 13;
const SYN = 0x02;
const SYN_OR_ACK = 0x12;

/** Returns a rule that turns on tracing for the first packets of the flow. */
function traceRule({ protocol, to, from }: Flow): Expression[] {
  return [
    load.meta(META.l4proto),
    compare(Uint8Array.of(PROTOCOL[protocol])),
    ...to === undefined ? [] : addressIs(to.address, "destination"),
    ...to === undefined
      ? []
      : [load.payload(BASE.transport, 2, 2), compare(Uint8Array.of(to.port >> 8, to.port & 0xff))],
    ...from === undefined ? [] : addressIs(from, "source"),
    ...protocol === "udp" ? [] : [
      load.payload(BASE.transport, TCP_FLAGS, 1),
      masked(Uint8Array.of(SYN_OR_ACK)),
      compare(Uint8Array.of(SYN)),
    ],
    expression("immediate", { register: REGISTER, data: Uint8Array.of(1) }),
    expression("meta", { key: TRACE, source: REGISTER }),
  ];
}

function addressIs(address: Address, side: "source" | "destination"): Expression[] {
  const { size, [side]: offset } = ADDRESS[address.family];
  return [
    load.meta(META.nfproto),
    compare(Uint8Array.of(FAMILY_NUMBERS[address.family])),
    load.payload(BASE.network, offset, size),
    compare(addressBytes(address)),
  ];
}

/** Maximum number of messages per read, so that a flood of packets cannot make the read endless. */
const MOST = 1000;

/** Reads the messages that have arrived. Throws a `SystemError` if the kernel refused a change. */
function messagesOf(socket: NetlinkSocket): Message[] {
  const messages: Message[] = [];
  while (messages.length < MOST) {
    const bytes = socket.receive();
    if (bytes === undefined) break;
    messages.push(...decode(bytes, HEADER, MESSAGE.newTable));
  }
  return messages.filter(({ type }) => type === TRACE_MESSAGE);
}
