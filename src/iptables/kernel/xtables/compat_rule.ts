/**
 * Converts planned rules to expressions that every iptables 1.8.x reads: header fields as nf_tables expressions, the
 * rest as iptables extensions. Newer releases of iptables write some extensions as expressions, and read both forms.
 */
import { addressBytes } from "../../../golang/net/mod.ts";
import type { Family, Match, Rule, Target } from "../../plan/rule.ts";
import { commentOf, type RuleTextOptions } from "../../views/restore.ts";
import {
  ADDRESS,
  BASE,
  compare,
  COUNTER,
  type Expression,
  expression,
  load,
  masked,
  META,
  PROTOCOL,
  VERDICT,
  verdict,
} from "../netfilter/expressions.ts";
import { prefixMask, stateBits } from "../netfilter/values.ts";
import { extensionBytes, type ExtensionName, MULTIPORT } from "./layouts.ts";
import { ownerRange } from "./owner_range.ts";
import type { OwnerNames } from "./rule_options.ts";

export type CompatOptions = RuleTextOptions & { readonly names: OwnerNames };

/** Returns the expressions of a rule in a table of an address family. */
export function compatRule(rule: Rule, family: Family, options: CompatOptions): Expression[] {
  const headers = rule.match.filter(isHeader).toSorted((a, b) => HEADERS.indexOf(a.kind) - HEADERS.indexOf(b.kind));
  const others = rule.match.filter((match) => !isHeader(match));
  const comment = options.comments === true ? [commentMatch(commentOf(rule))] : [];
  return [
    ...headers.flatMap(headerExpressions),
    ...others.map((match) => extensionMatch(match, rule, options.names)),
    ...comment,
    COUNTER,
    outcome(rule, family),
  ];
}

const HEADERS: readonly Match["kind"][] = ["source", "destination", "inInterface", "outInterface", "protocol"];
type Header = Extract<Match, { kind: "source" | "destination" | "inInterface" | "outInterface" | "protocol" }>;

function isHeader(match: Match): match is Header {
  return HEADERS.includes(match.kind);
}

function headerExpressions(match: Header): Expression[] {
  switch (match.kind) {
    case "protocol":
      return [load.meta(META.l4proto), compare(Uint8Array.of(PROTOCOL[match.protocol]))];
    case "inInterface":
      return [load.meta(META.iifname), compare(interfaceBytes(match.name))];
    case "outInterface":
      return [load.meta(META.oifname), compare(interfaceBytes(match.name))];
    default:
      return addressExpressions(match);
  }
}

/** Encodes an interface name with its final NUL, or a prefix such as `eth+` without one. */
function interfaceBytes(name: string): Uint8Array {
  return new TextEncoder().encode(name.endsWith("+") ? name.slice(0, -1) : `${name}\0`);
}

/** Returns the expressions that compare an address. The block of all addresses needs no condition. */
function addressExpressions(
  { kind, cidr: { address, bits }, negated }: Extract<Match, { kind: "source" | "destination" }>,
): Expression[] {
  if (bits === 0) return [];
  const { [kind]: offset, size } = ADDRESS[address.family];
  const mask = prefixMask(bits, size);
  const wanted = addressBytes(address).map((byte, at) => byte & (mask[at] ?? 0));
  return [
    load.payload(BASE.network, offset, size),
    ...bits === size * 8 ? [] : [masked(mask)],
    compare(wanted, negated),
  ];
}

function extensionMatch(match: Exclude<Match, Header>, rule: Rule, names: OwnerNames): Expression {
  switch (match.kind) {
    case "ports":
    case "sourcePorts":
      return portsMatch(match, rule);
    case "uid":
    case "gid":
      return ownerMatch(match, names);
    case "mark": {
      const inverted = match.negated === true ? 1 : 0;
      return extension("match mark 1", { mark: match.mark, mask: WHOLE_MARK, inverted });
    }
    case "connectionMark":
      return extension("match connmark 1", { mark: match.mark, mask: WHOLE_MARK });
    case "connectionState":
      return extension("match conntrack 3", { which: BY_STATE, states: stateBits(match.states) });
  }
}

function ownerMatch(match: Extract<Match, { kind: "uid" | "gid" }>, names: OwnerNames): Expression {
  const [first, last] = ownerRange(match, names);
  const range = match.kind === "uid" ? { uidFirst: first, uidLast: last } : { gidFirst: first, gidLast: last };
  const which = OWNER[match.kind];
  return extension("match owner 1", { ...range, which, inverted: match.negated === true ? which : 0 });
}

/** Bits that select user or group in the match `owner` (XT_OWNER_UID, XT_OWNER_GID). */
export const OWNER = { uid: 1, gid: 2 } as const;
export const WHOLE_MARK = 0xffffffff;
/** The bit that selects the state in the match `conntrack` (XT_CONNTRACK_STATE). */
export const BY_STATE = 1;
/** Bits that negate the ports in the matches `tcp` and `udp` (XT_TCP_INV_SRCPT, XT_TCP_INV_DSTPT). */
export const INVERTED_PORTS = { source: 1, destination: 2 } as const;
/** Numbers of the port sides in `multiport` (XT_MULTIPORT_SOURCE, XT_MULTIPORT_DESTINATION). */
export const SIDE = { source: 0, destination: 1 } as const;

function portsMatch({ kind, ports, negated }: Extract<Match, { kind: "ports" | "sourcePorts" }>, rule: Rule) {
  const side = kind === "ports" ? "destination" : "source";
  const [only] = ports;
  if (ports.length === 1 && only !== undefined) {
    const { first, last } = only;
    const range = side === "source" ? { sourceFirst: first, sourceLast: last } : { first, last };
    const inverted = negated === true ? INVERTED_PORTS[side] : 0;
    const isUdp = rule.match.some((match) => match.kind === "protocol" && match.protocol === "udp");
    return extension(`match ${isUdp ? "udp" : "tcp"} 0`, { sourceLast: 0xffff, last: 0xffff, ...range, inverted });
  }
  const isRange = ({ first, last }: typeof ports[number]) => first !== last;
  const numbers = ports.flatMap((range) => isRange(range) ? [range.first, range.last] : [range.first]);
  const marks = ports.flatMap((range) => isRange(range) ? [1, 0] : [0]);
  const info = extensionBytes("match multiport 1", {
    side: SIDE[side],
    count: numbers.length,
    inverted: negated === true ? 1 : 0,
  });
  const view = new DataView(info.buffer);
  numbers.slice(0, MULTIPORT.max).forEach((port, at) => view.setUint16(MULTIPORT.ports + 2 * at, port, true));
  info.set(marks.slice(0, MULTIPORT.max), MULTIPORT.isRange);
  return expression("match", { name: "multiport", revision: 1, info });
}

function commentMatch(comment: string): Expression {
  const info = extensionBytes("match comment 0", {});
  info.set(new TextEncoder().encode(comment));
  return expression("match", { name: "comment", revision: 0, info });
}

function extension(what: ExtensionName, values: Readonly<Record<string, number>>): Expression {
  const [kind, name = "", revision] = what.split(" ");
  return expression(kind === "match" ? "match" : "target", {
    name,
    revision: Number(revision),
    info: extensionBytes(what, values),
  });
}

/** NF_NAT_RANGE_PROTO_SPECIFIED. */
const TO_PORT = 2;
/** Modes of the target `CONNMARK` (XT_CONNMARK_SAVE, XT_CONNMARK_RESTORE). */
export const CONNMARK = { save: 1, restore: 2 } as const;

function outcome({ target }: Rule, family: Family): Expression {
  switch (target.kind) {
    case "jump":
      return verdict(VERDICT.jump, target.chain);
    case "redirect": {
      const ports = { flags: TO_PORT, first: target.port, last: target.port };
      return extension(family === 4 ? "target REDIRECT 0 ip" : "target REDIRECT 0 ip6", { ranges: 1, ...ports });
    }
    case "return":
    case "accept":
    case "drop":
      return verdict(VERDICT[target.kind]);
    default:
      return markOutcome(target);
  }
}

function markOutcome(target: Extract<Target, { kind: "tproxy" | "setMark" | "zone" | "saveMark" | "restoreMark" }>) {
  switch (target.kind) {
    case "tproxy":
      return extension("target TPROXY 1", { mask: WHOLE_MARK, mark: target.mark, port: target.port });
    case "setMark":
      return extension("target MARK 2", { mark: target.mark, mask: WHOLE_MARK });
    case "zone":
      return extension("target CT 2", { zone: target.zone });
    case "saveMark":
    case "restoreMark": {
      const mode = target.kind === "saveMark" ? CONNMARK.save : CONNMARK.restore;
      return extension("target CONNMARK 2", { ctmask: WHOLE_MARK, nfmask: WHOLE_MARK, mode });
    }
  }
}
