/**
 * A table of nf_tables that switches the trace on for one flow. It belongs to the socket that made it: the kernel removes
 * it when the socket is closed, however the process ends (NFT_TABLE_F_OWNER, since Linux 5.12).
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

/** The multicast group of traces (NFNLGRP_NFTRACE). */
const TRACES = 9;
/** The message of a trace (NFT_MSG_TRACE). */
const TRACE_MESSAGE = (10 << 8) | 17;
const OWNER = 2;
const NAME = "kubectl-mesh-trace";
/** The table of the trace, with its family. */
export const TRACE_TABLE = `inet ${NAME}`;
/** Before all chains of iptables: raw has -300. */
const FIRST = -350;
/** NF_INET_PRE_ROUTING and NF_INET_LOCAL_OUT. */
const HOOKS = { received: 0, sent: 3 } as const;
/** The size of struct nfgenmsg. */
const HEADER = 4;

/** The running trace. */
export interface TraceSocket {
  /** The messages of traces that have arrived. Throws `SystemError`; ENOBUFS if the kernel has dropped some. */
  receive(): Message[];
  /** Ends the trace, and removes the table. */
  close(): void;
}

/** Starts to trace a flow. Throws `SystemError`: EPERM without NET_ADMIN, EBUSY while another trace runs here. */
export function openTrace(system: SystemCalls, flow: Flow): TraceSocket {
  const socket = system.openNetlink(NETLINK_NETFILTER, TRACES);
  try {
    socket.send(batchBytes(changes(flow)));
    // The kernel has handled the batch when `send` returns. An error is an answer, an acknowledgement is none.
    messagesOf(socket);
  } catch (error) {
    socket.close();
    throw error;
  }
  return { receive: () => messagesOf(socket), close: () => socket.close() };
}

/** Of a flow that this pod sends the output is traced, of others the input. */
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

/** Messages that are read at once: a flood of packets brings more while these are read. */
const MOST = 1000;

/** What has arrived. Throws the `SystemError` of a refused change. */
function messagesOf(socket: NetlinkSocket): Message[] {
  const messages: Message[] = [];
  while (messages.length < MOST) {
    const bytes = socket.receive();
    if (bytes === undefined) break;
    messages.push(...decode(bytes, HEADER, MESSAGE.newTable));
  }
  return messages.filter(({ type }) => type === TRACE_MESSAGE);
}
