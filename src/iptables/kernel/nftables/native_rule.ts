/** Converts planned rules to the expressions that nft sends for the same text (views/nft.ts). */
import { joinBytes } from "../../../base/bytes.ts";
import { addressBytes } from "../../../golang/net/mod.ts";
import type { Match, Rule, Target } from "../../plan/rule.ts";
import { nftChain, orderedMatches, protocolBefore } from "../../views/nft.ts";
import { FAMILY_NUMBERS, u32, u32BigEndian } from "../netlink.ts";
import type { OwnerNames } from "../xtables/rule_options.ts";
import { ownerRange } from "../xtables/owner_range.ts";
import {
  ADDRESS,
  BASE,
  COMPARE,
  compare,
  COUNTER,
  CT,
  type Expression,
  expression,
  load,
  masked,
  META,
  PROTOCOL,
  REGISTER,
  VERDICT,
  verdict,
} from "../netfilter/expressions.ts";
import { prefixMask, stateBits } from "../netfilter/values.ts";

/**
 * Returns the expressions of a rule in a table of the family `inet`. Users and groups must be known names or numbers.
 */
export function nativeRule(rule: Rule, names: OwnerNames): Expression[] {
  const writer = new Writer(rule, names);
  const before = protocolBefore(rule);
  if (before !== undefined) writer.protocol(before);
  orderedMatches(rule).forEach((match) => writer.condition(match));
  return [...writer.written, ...outcome(rule)];
}

/**
 * Writes the conditions of a rule. If a condition requires a family or protocol condition, writes that condition first,
 * and only once per rule.
 */
class Writer {
  readonly written: Expression[] = [];
  readonly #known = new Set<string>();

  constructor(private readonly rule: Rule, private readonly names: OwnerNames) {}

  condition(match: Match): void {
    switch (match.kind) {
      case "protocol":
        return this.protocol(match.protocol);
      case "source":
      case "destination":
        return this.#address(match);
      case "ports":
      case "sourcePorts":
        return this.#ports(match);
      case "inInterface":
        return this.#interface(META.iifname, match.name);
      case "outInterface":
        return this.#interface(META.oifname, match.name);
      default:
        return this.#packet(match);
    }
  }

  #packet(
    match: Extract<Match, { kind: "uid" | "gid" | "mark" | "connectionMark" | "connectionState" }>,
  ): void {
    switch (match.kind) {
      case "uid":
      case "gid":
        return this.#owner(match);
      case "mark":
        return this.#add(load.meta(META.mark), compare(u32(match.mark), match.negated));
      case "connectionMark":
        return this.#add(load.ct(CT.mark), compare(u32(match.mark)));
      case "connectionState":
        return this.#add(load.ct(CT.state), masked(u32(stateBits(match.states))), compare(u32(0), true));
    }
  }

  protocol(protocol: "tcp" | "udp"): void {
    this.#once(`protocol ${protocol}`, load.meta(META.l4proto), compare(Uint8Array.of(PROTOCOL[protocol])));
  }

  #add(...expressions: readonly Expression[]): void {
    this.written.push(...expressions);
  }

  #once(what: string, ...expressions: readonly Expression[]): void {
    if (this.#known.has(what)) return;
    this.#known.add(what);
    this.#add(...expressions);
  }

  /** Compares only the leading bytes if the prefix length is a whole number of bytes, as nft does. */
  #address({ kind, cidr: { address, bits }, negated }: Extract<Match, { kind: "source" | "destination" }>): void {
    const { family } = address;
    const { [kind]: offset, size } = ADDRESS[family];
    const mask = prefixMask(bits, size);
    const wanted = addressBytes(address).map((byte, at) => byte & (mask[at] ?? 0));
    this.#once(`family ${family}`, load.meta(META.nfproto), compare(Uint8Array.of(FAMILY_NUMBERS[family])));
    const isWhole = bits > 0 && bits % 8 === 0;
    const length = isWhole ? bits / 8 : size;
    this.#add(
      load.payload(BASE.network, offset, length),
      ...isWhole ? [] : [masked(mask)],
      compare(wanted.subarray(0, length), negated),
    );
  }

  #ports({ kind, ports, negated }: Extract<Match, { kind: "ports" | "sourcePorts" }>): void {
    const protocol = this.rule.match.find((match) => match.kind === "protocol");
    this.protocol(protocol?.protocol ?? "tcp");
    this.#add(load.payload(BASE.transport, kind === "ports" ? 2 : 0, 2));
    const [only] = ports;
    if (ports.length === 1 && only !== undefined) {
      return this.#range(portBytes(only.first), portBytes(only.last), negated);
    }
    const numbers = ports.flatMap(({ first, last }) => Array.from({ length: last - first + 1 }, (_, at) => first + at));
    const elements = [...new Set(numbers)].sort((a, b) => a - b).map(portBytes);
    const lookup = expression("lookup", { source: REGISTER, flags: negated === true ? 1 : 0 });
    this.#add({ ...lookup, elements });
  }

  #range(first: Uint8Array, last: Uint8Array, negated: true | undefined): void {
    if (first.every((byte, at) => byte === last[at])) return this.#add(compare(first, negated));
    if (negated !== true) {
      return this.#add(compare(first, false, COMPARE.atLeast), compare(last, false, COMPARE.atMost));
    }
    this.#add(expression("range", { source: REGISTER, operator: COMPARE.notEqual, from: first, to: last }));
  }

  /** Compares all 16 bytes of an interface name, or only the bytes of a prefix such as `eth+`. */
  #interface(key: number, name: string): void {
    const text = new TextEncoder().encode(name.replace(/\+$/, ""));
    const whole = new Uint8Array(16);
    whole.set(text);
    this.#add(load.meta(key), compare(name.endsWith("+") ? text : whole));
  }

  #owner(match: Extract<Match, { kind: "uid" | "gid" }>): void {
    const [first, last] = ownerRange(match, this.names);
    this.#add(load.meta(match.kind === "uid" ? META.skuid : META.skgid));
    if (first === last) return this.#add(compare(u32(first), match.negated));
    // The kernel compares byte by byte, so user IDs are converted from host to network byte order to test a range.
    this.#add(expression("byteorder", { source: REGISTER, register: REGISTER, operator: 1, length: 4, size: 4 }));
    this.#range(u32BigEndian(first), u32BigEndian(last), match.negated);
  }
}

function portBytes(port: number): Uint8Array {
  return Uint8Array.of(port >> 8, port & 0xff);
}

function value(data: Uint8Array): Expression {
  return expression("immediate", { register: REGISTER, data });
}

const SET_MARK: Expression = expression("meta", { key: META.mark, source: REGISTER });
/** NF_NAT_RANGE_PROTO_SPECIFIED. */
const TO_PORT = 2;

function outcome({ target, family }: Rule): Expression[] {
  switch (target.kind) {
    case "jump":
      return [COUNTER, verdict(VERDICT.jump, nftChain(target.chain))];
    case "redirect":
      return [COUNTER, value(portBytes(target.port)), expression("redir", { first: REGISTER, flags: TO_PORT })];
    case "tproxy": {
      const socket = expression("tproxy", { family: FAMILY_NUMBERS[family ?? 4], port: REGISTER });
      return [value(portBytes(target.port)), socket, ...setMark(target.mark), COUNTER, verdict(VERDICT.accept)];
    }
    case "return":
    case "accept":
    case "drop":
      return [COUNTER, verdict(VERDICT[target.kind])];
    default:
      return [COUNTER, ...mark(target)];
  }
}

function setMark(mark: number): Expression[] {
  return [value(u32(mark)), SET_MARK];
}

function mark(target: Extract<Target, { kind: "setMark" | "zone" | "saveMark" | "restoreMark" }>): Expression[] {
  switch (target.kind) {
    case "setMark":
      return setMark(target.mark);
    case "zone": {
      const number = Uint8Array.of(target.zone & 0xff, target.zone >> 8);
      return [value(number), expression("ct", { key: CT.zone, source: REGISTER })];
    }
    case "saveMark":
      return [load.meta(META.mark), expression("ct", { key: CT.mark, source: REGISTER })];
    case "restoreMark":
      return [load.ct(CT.mark), SET_MARK];
  }
}

/** Encodes a comment as the user data of a rule (NFTNL_UDATA_RULE_COMMENT of libnftnl): type, length, text. */
export function commentData(comment: string): Uint8Array {
  const text = new TextEncoder().encode(`${comment}\0`);
  return joinBytes([Uint8Array.of(0, text.length), text]);
}
