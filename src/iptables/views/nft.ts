/**
 * Formats the plan as one transaction of `nft -f` (spec/iptables.md 2.3), with tables of the family `inet` for both
 * families.
 */
import { cidrText } from "../../golang/net/mod.ts";
import { baseChain, type Match, type Plan, type Rule, type Table } from "../plan/rule.ts";
import type { PortRange } from "../settings/settings.ts";
import { commentOf, type RuleTextOptions } from "./restore.ts";

/** The owned nftables tables, in the order of creation. */
export const NFT_TABLES: readonly { readonly table: Table; readonly name: string }[] = [
  { table: "nat", name: "istio-proxy-nat" },
  { table: "mangle", name: "istio-proxy-mangle" },
  { table: "raw", name: "istio-proxy-raw" },
];

/** The chains of each table, in the order of creation. */
const CHAIN_ORDER: Readonly<Record<string, readonly string[]>> = {
  nat: [
    "PREROUTING",
    "OUTPUT",
    "ISTIO_INBOUND",
    "ISTIO_REDIRECT",
    "ISTIO_IN_REDIRECT",
    "ISTIO_OUTPUT",
    "ISTIO_OUTPUT_DNS",
  ],
  mangle: ["PREROUTING", "OUTPUT", "ISTIO_DIVERT", "ISTIO_TPROXY", "ISTIO_INBOUND", "ISTIO_DROP"],
  raw: ["PREROUTING", "OUTPUT", "ISTIO_INBOUND", "ISTIO_OUTPUT_DNS"],
};

/** Returns the text for `nft -f`; `""` for a plan without rules. */
export function nftText(plan: Plan, options: RuleTextOptions = {}): string {
  return NFT_TABLES.map(({ table, name }) => nftTable(name, plan.rules.filter((rule) => rule.table === table), options))
    .join("");
}

function nftTable(name: string, rules: readonly Rule[], options: RuleTextOptions): string {
  const table = rules[0]?.table;
  if (table === undefined) return "";
  const lines = [
    `add table inet ${name}`,
    `flush table inet ${name}`,
    ...nftChains(rules).map((chain) => {
      const base = baseChain(table, chain);
      const own = nftChain(chain);
      // The priority is a number, because older releases of nft have no priority names in `inet`.
      const place = base === undefined ? "" : ` { type ${base.type} hook ${own} priority ${base.priority} ; }`;
      return `add chain inet ${name} ${own}${place}`;
    }),
    ...ruleLines(name, rules, options),
  ];
  return `${lines.join("\n")}\n`;
}

/** Returns the chains that contain rules or are the target of a jump. */
export function nftChains(rules: readonly Rule[]): string[] {
  const targets = rules.flatMap(({ target }) => target.kind === "jump" ? [target.chain] : []);
  const needed = new Set([...rules.map(({ chain }) => chain), ...targets]);
  return (CHAIN_ORDER[rules[0]?.table ?? ""] ?? []).filter((chain) => needed.has(chain));
}

/** Returns the nft name of a chain, such as `istio-output-dns` for `ISTIO_OUTPUT_DNS`. */
export function nftChain(chain: string): string {
  return chain.toLowerCase().replaceAll("_", "-");
}

/**
 * Returns the lines that add rules. nft inserts only before an existing rule, so a rule whose index is after the last
 * rule is appended instead.
 */
function ruleLines(table: string, rules: readonly Rule[], options: RuleTextOptions): string[] {
  const lengths = new Map<string, number>();
  return rules.map((rule) => {
    const length = lengths.get(rule.chain) ?? 0;
    lengths.set(rule.chain, length + 1);
    const isInsert = rule.insertAt !== undefined && rule.insertAt - 1 < length;
    const verb = isInsert ? "insert" : "add";
    const index = isInsert ? ` index ${(rule.insertAt ?? 1) - 1}` : "";
    return `${verb} rule inet ${table} ${nftChain(rule.chain)}${index} ${nftRule(rule, options)}`;
  });
}

/** Formats a rule as nft text: conditions, counter, outcome. */
export function nftRule(rule: Rule, options: RuleTextOptions = {}): string {
  const comment = options.comments === true ? [`comment "${commentOf(rule)}"`] : [];
  return [...conditions(rule), ...outcome(rule), ...comment].join(" ");
}

/** The order of the conditions. In the table raw, ports come before the address. */
const PLACES: Readonly<Record<Match["kind"], number>> = {
  inInterface: 0,
  outInterface: 0,
  protocol: 1,
  mark: 2,
  connectionMark: 2,
  source: 3,
  destination: 3,
  connectionState: 4,
  ports: 5,
  sourcePorts: 5,
  uid: 6,
  gid: 6,
};

function conditions(rule: Rule): string[] {
  const before = protocolBefore(rule);
  const texts = orderedMatches(rule).map((match) => matchText(match, rule));
  return before === undefined ? texts : [`meta l4proto ${before}`, ...texts];
}

/** Returns the conditions in the order of the nft text. */
export function orderedMatches(rule: Rule): Match[] {
  const place = ({ kind }: Match) => rule.table === "raw" && /^(source|destination)$/.test(kind) ? 5.5 : PLACES[kind];
  return rule.match.filter((match) => match.kind !== "protocol" || !isImplied(rule))
    .sort((a, b) => place(a) - place(b));
}

/**
 * Returns the protocol to write before the conditions. The rule that drops invalid packets has no protocol in the plan,
 * but istio-iptables limits its nftables form to TCP.
 */
export function protocolBefore(rule: Rule): "tcp" | undefined {
  const isBareState = rule.match.some(({ kind }) => kind === "connectionState") && protocolOf(rule) === undefined;
  return isBareState ? "tcp" : undefined;
}

function protocolOf(rule: Rule): "tcp" | "udp" | undefined {
  return rule.match.flatMap((match) => match.kind === "protocol" ? [match.protocol] : [])[0];
}

/**
 * Whether a port condition implies the protocol. Otherwise the text states the protocol, in the order of
 * istio-iptables.
 */
function isImplied(rule: Rule): boolean {
  const has = (kinds: RegExp) => rule.match.some(({ kind }) => kinds.test(kind));
  return has(/orts$/) &&
      (protocolOf(rule) === "udp" || !has(/Interface$|connectionState/) && rule.chain === "ISTIO_OUTPUT") ||
    has(/orts$/) && has(/source$|destination/) && !has(/Interface$/);
}

function matchText(match: Match, rule: Rule): string {
  switch (match.kind) {
    case "protocol":
      return `meta l4proto ${match.protocol}`;
    case "source":
    case "destination":
      return addressText(match);
    case "ports":
    case "sourcePorts":
      return portsText(match, protocolOf(rule) ?? "tcp");
    default:
      return metaText(match, rule.table);
  }
}

function addressText(match: Extract<Match, { kind: "source" | "destination" }>): string {
  const protocol = match.cidr.address.family === 4 ? "ip" : "ip6";
  return `${protocol} ${match.kind === "source" ? "saddr" : "daddr"} ${not(match)}${cidrText(match.cidr)}`;
}

function portsText(match: Extract<Match, { kind: "ports" | "sourcePorts" }>, protocol: string): string {
  const field = match.kind === "ports" ? "dport" : "sport";
  const ports = match.ports.map(portText);
  return `${protocol} ${field} ${not(match)}${ports.length === 1 ? ports[0] : `{ ${ports.join(", ")} }`}`;
}

/** Formats a port, or a range such as `80-90`. */
export function portText({ first, last }: PortRange): string {
  return first === last ? String(first) : `${first}-${last}`;
}

function metaText(match: Match, table: Table): string {
  switch (match.kind) {
    case "inInterface":
    case "outInterface":
      return `${match.kind === "inInterface" ? "iifname" : "oifname"} ${interfaceText(match.name)}`;
    case "uid":
    case "gid":
      return `${table === "raw" ? "meta " : ""}sk${match.kind} ${not(match)}${match.owner}`;
    case "mark":
      return `mark ${not(match)}${match.mark}`;
    case "connectionMark":
      return `ct mark ${match.mark}`;
    case "connectionState":
      return `ct state ${match.states.join(",").toLowerCase()}`;
    default:
      return "";
  }
}

/** Quotes a name that nft could misread. Names of letters only (except `lo`), and `ip6`, could be nft keywords. */
function interfaceText(name: string): string {
  const text = name.replace(/\+$/, "*");
  const isPlain = text === "lo" || /^[A-Za-z][\w./-]*\*?$/.test(text) && /[-\d]/.test(text) && text !== "ip6";
  return isPlain ? text : `"${text}"`;
}

function not(match: { readonly negated?: true }): string {
  return match.negated === true ? "!= " : "";
}

function outcome({ target, family }: Rule): string[] {
  switch (target.kind) {
    case "jump":
      return [`counter jump ${nftChain(target.chain)}`];
    case "redirect":
      return [`counter redirect to :${target.port}`];
    case "tproxy":
      return [`tproxy ${family === 6 ? "ip6" : "ip"} to :${target.port} meta mark set ${target.mark} counter accept`];
    case "setMark":
      return [`counter meta mark set ${target.mark}`];
    case "zone":
      return [`counter ct zone set ${target.zone}`];
    default:
      return [`counter ${PLAIN_TARGETS[target.kind]}`];
  }
}

const PLAIN_TARGETS = {
  return: "return",
  accept: "accept",
  drop: "drop",
  saveMark: "ct mark set mark",
  restoreMark: "meta mark set ct mark",
} as const;
