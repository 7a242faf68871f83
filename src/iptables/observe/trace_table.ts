/**
 * Creates an nf_tables table that turns on tracing for one flow. The table belongs to the netlink socket that creates
 * it. The kernel removes the table when the socket is closed, even if the process is killed (NFT_TABLE_F_OWNER, since
 * Linux 5.12).
 */
import type { NetlinkSocket, SystemCalls } from "../../platform/mod.ts";
import { expressionAttribute } from "../kernel/netfilter/expressions.ts";
import { CHAIN, HOOK, MESSAGE, nftHeader, RULE, TABLE, TABLE_FAMILIES } from "../kernel/netfilter/ruleset.ts";
import {
  type Attribute,
  batchBytes,
  decode,
  FLAGS,
  type Message,
  nested,
  NETLINK_NETFILTER,
  textBytes,
  u32BigEndian,
} from "../kernel/netlink.ts";
import { type Flow, traceRule } from "./flow.ts";

/** The multicast group for trace reports (NFNLGRP_NFTRACE). */
const TRACES = 9;
/** The type of a trace report (NFT_MSG_TRACE). */
const TRACE_MESSAGE = (10 << 8) | 17;
const OWNER = 2;
const NAME = "kubectl-mesh-trace";
/** Family and name of the table that turns on tracing. */
export const TRACE_TABLE = `inet ${NAME}`;
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
 * Starts tracing a flow. Throws a `SystemError`: EPERM without NET_ADMIN, EBUSY while another trace runs in this
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
  const change = (type: number, flags: number, attributes: readonly Attribute[]) => ({
    ...{ type, flags, attributes },
    header: nftHeader(TABLE_FAMILIES.inet),
  });
  const create = FLAGS.create | FLAGS.exclusive;
  const name = textBytes("trace");
  return [
    change(MESSAGE.newTable, create, [[TABLE.name, textBytes(NAME)], [TABLE.flags, u32BigEndian(OWNER)]]),
    change(MESSAGE.newChain, create, [
      [CHAIN.table, textBytes(NAME)],
      [CHAIN.name, name],
      [CHAIN.type, textBytes("filter")],
      nested(CHAIN.hook, [[HOOK.number, u32BigEndian(hook)], [HOOK.priority, u32BigEndian(FIRST)]]),
    ]),
    change(MESSAGE.newRule, FLAGS.create, [
      [RULE.table, textBytes(NAME)],
      [RULE.chain, name],
      nested(RULE.expressions, traceRule(flow).map(expressionAttribute)),
    ]),
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
