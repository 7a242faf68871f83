/** Decodes the kernel's reports about a traced packet (linux/netfilter/nf_tables.h, `enum nft_trace_attributes`). */
import { addressIn, addressText } from "../../golang/net/mod.ts";
import { ADDRESS } from "../kernel/netfilter/expressions.ts";
import { tableName } from "../kernel/netfilter/ruleset.ts";
import { attributesOf, type Message, numberOfBigEndian, textOf } from "../kernel/netlink.ts";

const TRACE = {
  table: 1,
  chain: 2,
  handle: 3,
  type: 4,
  verdict: 5,
  id: 6,
  network: 8,
  transport: 9,
  policy: 16,
} as const;
const VERDICT = { code: 1, chain: 2 } as const;
const TYPES: Readonly<Record<number, Step["type"]>> = { 1: "policy", 2: "return", 3: "rule" };

/** One step of a packet. */
export interface Step {
  /** A number that all steps of a packet in one hook share. */
  readonly id: number;
  /** Family and name, such as `ip nat`. */
  readonly table: string;
  readonly chain: string;
  /** `policy`: the packet reached the end of a base chain. `return`: the end of another chain. */
  readonly type: "policy" | "return" | "rule";
  /** The rule's handle, in network byte order. */
  readonly handle: Uint8Array | undefined;
  readonly code: number;
  /** The chain that a jump or goto leads to. */
  readonly target: string | undefined;
  /** The addresses, such as `10.9.0.2:40000 -> 10.9.0.1:80`. Only the first step of a packet contains them. */
  readonly ends: string | undefined;
}

/** Decodes the step in a message; returns `undefined` for a message of another type. */
export function stepOf(message: Message): Step | undefined {
  const { attributes } = message;
  const number = (key: number) => numberOfBigEndian(attributes.get(key), 0);
  const type = TYPES[number(TRACE.type)];
  if (type === undefined || !attributes.has(TRACE.table)) return undefined;
  const verdict = attributesOf(attributes.get(TRACE.verdict));
  return {
    id: number(TRACE.id),
    table: tableName(message, TRACE.table),
    chain: textOf(attributes.get(TRACE.chain)),
    type,
    handle: attributes.get(TRACE.handle),
    code: type === "policy" ? number(TRACE.policy) : numberOfBigEndian(verdict.get(VERDICT.code), 0) | 0,
    target: verdict.has(VERDICT.chain) ? textOf(verdict.get(VERDICT.chain)) : undefined,
    ends: endsOf(attributes.get(TRACE.network), attributes.get(TRACE.transport)),
  };
}

/** Formats the addresses and ports in the headers of a packet. */
function endsOf(network: Uint8Array | undefined, transport: Uint8Array | undefined): string | undefined {
  if (network === undefined || transport === undefined || transport.length < 4) return undefined;
  const family = (network[0] ?? 0) >> 4 === 4 ? 4 : 6;
  const { source, destination, size } = ADDRESS[family];
  if (network.length < destination + size) return undefined;
  const [from, to] = [source, destination].map((at) => {
    const text = addressText(addressIn(network.subarray(at, at + size)));
    return family === 6 ? `[${text}]` : text;
  });
  const ports = new DataView(transport.buffer, transport.byteOffset);
  return `${from}:${ports.getUint16(0)} -> ${to}:${ports.getUint16(2)}`;
}
