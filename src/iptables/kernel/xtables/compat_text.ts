/** Formats kernel rules of iptables-nft as the lines that `iptables-save` prints. */
import type { Family } from "../../plan/rule.ts";
import { commentOf as userComment, type Part, readRule } from "../netfilter/read_rule.ts";
import type { KernelRule } from "../netfilter/ruleset.ts";
import { STATES } from "../netfilter/values.ts";
import { textOf } from "../netlink.ts";
import { BY_STATE, CONNMARK, INVERTED_PORTS, OWNER, SIDE, WHOLE_MARK } from "./compat_rule.ts";
import { extensionFields, MULTIPORT, TPROXY_ADDRESS } from "./layouts.ts";

/** Formats a rule as the text after `-A CHAIN`. An unknown extension shows its bytes. */
export function savedText(rule: KernelRule, family: Family): string {
  const parts = readRule(rule, family);
  const headers = parts.flatMap((part) => part.kind === "condition" ? headerText(part) : []);
  const comment = userComment(rule);
  return [
    ...headers.toSorted(([a], [b]) => a - b).map(([, text]) => text),
    ...parts.map(matchText).filter((text) => text !== ""),
    ...comment === undefined ? [] : [`-m comment --comment "${comment}"`],
    ...parts.map((part) => targetText(part, family)).filter((text) => text !== ""),
  ].join(" ");
}

const HEADERS: Readonly<Record<string, readonly [place: number, option: string] | undefined>> = {
  "ip saddr": [0, "-s"],
  "ip6 saddr": [0, "-s"],
  "ip daddr": [1, "-d"],
  "ip6 daddr": [1, "-d"],
  iifname: [2, "-i"],
  oifname: [3, "-o"],
  l4proto: [4, "-p"],
};

type Condition = Extract<Part, { kind: "condition" }>;

function headerText({ field, negated, value }: Condition): (readonly [number, string])[] {
  const [place, option] = HEADERS[field] ?? [];
  if (place === undefined) return [];
  return [[place, `${not(negated)}${option} ${field.endsWith("ifname") ? value.replace(/\*$/, "+") : value}`]];
}

function not(isNegated: boolean): string {
  return isNegated ? "! " : "";
}

function matchText(part: Part): string {
  switch (part.kind) {
    case "condition":
      return nativeMatch(part);
    case "match":
      return extensionText(part);
    case "unknown":
      return `-m ${part.text.replaceAll(" ", "_")}`;
    default:
      return "";
  }
}

/** Formats conditions that newer releases of iptables write as nf_tables expressions. */
function nativeMatch({ field, negated, value }: Condition): string {
  const [, protocol, side] = /^(tcp|udp) ([ds]port)$/.exec(field) ?? [];
  if (protocol !== undefined) return `-m ${protocol} ${not(negated)}--${side} ${value.replace("-", ":")}`;
  if (field === "meta mark") return `-m mark ${not(negated)}--mark ${markText(value)}`;
  return HEADERS[field] === undefined ? `-m ${field.replaceAll(" ", "_")} ${not(negated)}--value ${value}` : "";
}

/** Formats a packet mark, with its mask unless the mask covers all bits. */
function markText(value: string): string {
  const [mark, mask] = value.split("/");
  return hex(Number(mark)) + (mask === undefined ? "" : `/${mask}`);
}

type Extension = Extract<Part, { kind: "match" | "target" }>;

type Fields = Readonly<Record<string, number>>;

/** Formats the values of an extension; returns `undefined` for unknown values. */
type Show = (fields: Fields, extension: Extension, family: Family) => string | undefined;

const SHOW_MATCH: Readonly<Record<string, Show>> = {
  tcp: (fields) => ["-m tcp", ...portTexts(fields)].join(" "),
  udp: (fields) => ["-m udp", ...portTexts(fields)].join(" "),
  owner: (fields) => ["-m owner", ...ownerTexts(fields)].join(" "),
  mark: (fields) => `-m mark ${markMatch(fields)}`,
  connmark: (fields) => `-m connmark ${markMatch(fields)}`,
  multiport: (fields, { info }) => multiportText(fields, info),
  comment: (_, { info }) => `-m comment --comment ${quoted(textOf(info))}`,
  conntrack: ({ which = 0, states = 0, inverted }) =>
    (which & ~STATE_ALIAS) === BY_STATE
      ? `-m conntrack ${not(inverted !== 0)}--ctstate ${stateNames(states)}`
      : undefined,
};

function extensionText(extension: Extension): string {
  const { name, revision, info } = extension;
  const fields = extensionFields(`match ${name} ${revision}`, info);
  const show = Object.hasOwn(SHOW_MATCH, name) ? SHOW_MATCH[name] : undefined;
  return (fields === undefined ? undefined : show?.(fields, extension, 4)) ?? unknownText("-m", name, info);
}

function markMatch({ mark = 0, mask = 0, inverted }: Fields): string {
  return `${not(inverted !== 0)}--mark ${mask === WHOLE_MARK ? hex(mark) : `${hex(mark)}/${hex(mask)}`}`;
}

/** XT_CONNTRACK_STATE_ALIAS: marks a rule that was written with `-m state`. */
const STATE_ALIAS = 0x2000;

function stateNames(bits: number): string {
  return ["INVALID", "NEW", "RELATED", "ESTABLISHED", "UNTRACKED"].filter((name) => (bits & (STATES[name] ?? 0)) !== 0)
    .join();
}

function portTexts({ sourceFirst = 0, sourceLast = 0, first = 0, last = 0, inverted = 0 }: Fields): string[] {
  const side = (option: string, from: number, to: number, isInverted: boolean) =>
    from === 0 && to === 0xffff && !isInverted
      ? []
      : [`${not(isInverted)}--${option} ${from === to ? from : `${from}:${to}`}`];
  return [
    ...side("sport", sourceFirst, sourceLast, (inverted & INVERTED_PORTS.source) !== 0),
    ...side("dport", first, last, (inverted & INVERTED_PORTS.destination) !== 0),
  ];
}

function ownerTexts(fields: Fields): string[] {
  const { which = 0, inverted = 0, uidFirst = 0, uidLast = 0, gidFirst = 0, gidLast = 0 } = fields;
  const owner = (option: string, bit: number, first: number, last: number) =>
    (which & bit) === 0
      ? []
      : [`${not((inverted & bit) !== 0)}--${option} ${first === last ? first : `${first}-${last}`}`];
  return [...owner("uid-owner", OWNER.uid, uidFirst, uidLast), ...owner("gid-owner", OWNER.gid, gidFirst, gidLast)];
}

function multiportText({ side, count = 0, inverted }: Fields, info: Uint8Array): string {
  const view = new DataView(info.buffer, info.byteOffset, info.byteLength);
  const texts = Array.from({ length: Math.min(count, MULTIPORT.max) }, (_, at) => {
    const isRange = view.getUint8(MULTIPORT.isRange + at) !== 0;
    return `${view.getUint16(MULTIPORT.ports + 2 * at, true)}${isRange ? ":" : ","}`;
  });
  const option = side === SIDE.source ? "sports" : side === SIDE.destination ? "dports" : "ports";
  return `-m multiport ${not(inverted !== 0)}--${option} ${texts.join("").replace(/,$/, "")}`;
}

function targetText(part: Part, family: Family): string {
  switch (part.kind) {
    case "verdict": {
      const [verb = "", chain] = part.text.split(" ");
      return `${verb === "goto" ? "-g" : "-j"} ${chain ?? verb.toUpperCase()}`;
    }
    case "target":
      return xtTarget(part, family);
    case "log":
      return `-j NFLOG ${
        part.prefix === "" ? "" : `--nflog-prefix ${quoted(part.prefix)} `
      }--nflog-group ${part.group}`;
    case "statement":
      return `-j ${part.text.replaceAll(" ", "_")}`;
    default:
      return "";
  }
}

const SHOW_TARGET: Readonly<Record<string, Show>> = {
  REDIRECT: ({ first, last }) => `-j REDIRECT --to-ports ${first === last ? first : `${first}-${last}`}`,
  TPROXY: ({ port, mark = 0, mask = 0 }, { info }, family) => {
    if (info.subarray(...TPROXY_ADDRESS).some((byte) => byte !== 0)) return undefined;
    const address = family === 4 ? "0.0.0.0" : "::";
    return `-j TPROXY --on-port ${port} --on-ip ${address} --tproxy-mark ${hex(mark)}/${hex(mask)}`;
  },
  MARK: ({ mark = 0, mask = 0 }) => `-j MARK --set-xmark ${hex(mark)}/${hex(mask)}`,
  CONNMARK: ({ mode, nfmask = 0, ctmask = 0 }) => {
    const verb = mode === CONNMARK.save ? "--save-mark" : "--restore-mark";
    const isKnown = mode === CONNMARK.save || mode === CONNMARK.restore;
    return isKnown ? `-j CONNMARK ${verb} --nfmask ${hex(nfmask)} --ctmask ${hex(ctmask)}` : undefined;
  },
  CT: ({ flags, zone }) => flags === 0 ? `-j CT --zone ${zone}` : undefined,
  NFLOG: ({ group }) => `-j NFLOG --nflog-group ${group}`,
};

function xtTarget(extension: Extension, family: Family): string {
  const { name, revision, info } = extension;
  const suffix = name === "REDIRECT" ? ` ${family === 4 ? "ip" : "ip6"}` : "";
  const fields = extensionFields(`target ${name} ${revision}${suffix}`, info);
  const show = Object.hasOwn(SHOW_TARGET, name) ? SHOW_TARGET[name] : undefined;
  return (fields === undefined ? undefined : show?.(fields, extension, family)) ?? unknownText("-j", name, info);
}

function hex(number: number): string {
  return `0x${number.toString(16)}`;
}

/** Quotes a text that contains spaces. */
function quoted(text: string): string {
  return /^[\w./:-]+$/.test(text) ? text : `"${text.replaceAll(/[\\"']/g, "\\$&")}"`;
}

function unknownText(option: "-m" | "-j", name: string, info: Uint8Array): string {
  const used = info.subarray(0, info.findLastIndex((byte) => byte !== 0) + 1);
  const bytes = [...used].map((byte) => byte.toString(16).padStart(2, "0")).join("");
  return `${option} ${name}${bytes === "" ? "" : ` --${name.toLowerCase()} 0x${bytes}`}`;
}
