/** Formats the plan as the input of `iptables-restore` (spec/iptables.md 1.5), and rules as arguments of `iptables`. */
import { cidrText } from "../../golang/net/mod.ts";
import { type Family, isBuiltIn, type Match, type Plan, type Rule, rulesOf, type Table } from "../plan/rule.ts";
import type { PortRange } from "../settings/settings.ts";

export interface RuleTextOptions {
  readonly comments?: boolean;
}

/** Formats the rules of one family, with the tables in alphabetical order. Returns `""` if there are no rules. */
export function restoreText(plan: Plan, family: Family, options: RuleTextOptions = {}): string {
  return tablesOf(rulesOf(plan, family))
    .map(([table, rules]) => [`* ${table}`, ...tableLines(rules, options), "COMMIT", ""].join("\n")).join("");
}

/** Returns the tables in alphabetical order, with their rules. */
export function tablesOf(rules: readonly Rule[]): (readonly [Table, readonly Rule[]])[] {
  return [...Map.groupBy(rules, ({ table }) => table)].toSorted(([a], [b]) => a < b ? -1 : 1);
}

/** Returns the arguments of `iptables` that create the chains and rules of a table. */
export function tableLines(rules: readonly Rule[], options: RuleTextOptions): string[] {
  return [...chainsOf(rules).map((chain) => `-N ${chain}`), ...rules.map((rule) => ruleLine(rule, options))];
}

/** Lists the chains that contain rules, in order of appearance, then the chains that are only targets of jumps. */
export function chainsOf(rules: readonly Rule[]): string[] {
  const targets = rules.flatMap(({ target }) => target.kind === "jump" ? [target.chain] : []);
  return [...new Set([...rules.map(({ chain }) => chain), ...targets])].filter((chain) => !isBuiltIn(chain));
}

/** Formats a rule as arguments, such as `-A ISTIO_OUTPUT -o lo -j RETURN` or `-I PREROUTING 1 -i eth1 -j RETURN`. */
export function ruleLine(rule: Rule, options: RuleTextOptions = {}): string {
  const place = rule.insertAt === undefined ? `-A ${rule.chain}` : `-I ${rule.chain} ${rule.insertAt}`;
  const comment = options.comments === true ? ["-m", "comment", "--comment", `"${commentOf(rule)}"`] : [];
  return [place, ...rule.match.flatMap(matchArguments), ...comment, "-j", ...targetArguments(rule)].join(" ");
}

/** Returns the comment of a rule, cut to the 128 bytes that nft allows. */
export function commentOf(rule: Rule): string {
  return `kubectl-mesh: ${rule.why}`.replaceAll('"', "'").slice(0, 127);
}

function matchArguments(match: Match): string[] {
  switch (match.kind) {
    case "inInterface":
      return ["-i", match.name];
    case "outInterface":
      return ["-o", match.name];
    case "source":
      return [...not(match), "-s", cidrText(match.cidr)];
    case "destination":
      return [...not(match), "-d", cidrText(match.cidr)];
    case "protocol":
      return ["-p", match.protocol];
    case "ports":
      return portArguments("dport", match.ports, not(match));
    case "sourcePorts":
      return portArguments("sport", match.ports, not(match));
    default:
      return moduleArguments(match);
  }
}

function moduleArguments(
  match: Extract<Match, { kind: "uid" | "gid" | "mark" | "connectionMark" | "connectionState" }>,
): string[] {
  switch (match.kind) {
    case "uid":
    case "gid":
      return ["-m", "owner", ...not(match), `--${match.kind}-owner`, match.owner];
    case "mark":
      return ["-m", "mark", ...not(match), "--mark", String(match.mark)];
    case "connectionMark":
      return ["-m", "connmark", "--mark", String(match.mark)];
    case "connectionState":
      return ["-m", "conntrack", "--ctstate", match.states.join(",")];
  }
}

function portArguments(option: string, ports: readonly PortRange[], negation: readonly string[]): string[] {
  const text = ports.map(({ first, last }) => first === last ? String(first) : `${first}:${last}`).join(",");
  return ports.length === 1
    ? [...negation, `--${option}`, text]
    : ["-m", "multiport", ...negation, `--${option}s`, text];
}

function not(match: { readonly negated?: true }): string[] {
  return match.negated === true ? ["!"] : [];
}

function targetArguments({ target, match }: Rule): string[] {
  switch (target.kind) {
    case "jump":
      return [target.chain];
    case "redirect":
      return ["REDIRECT", isUdp(match) ? "--to-port" : "--to-ports", String(target.port)];
    case "tproxy":
      return ["TPROXY", "--tproxy-mark", `${target.mark}/0xffffffff`, "--on-port", String(target.port)];
    case "setMark":
      return ["MARK", "--set-mark", String(target.mark)];
    case "zone":
      return ["CT", "--zone", String(target.zone)];
    default:
      return [...PLAIN_TARGETS[target.kind]];
  }
}

const PLAIN_TARGETS = {
  return: ["RETURN"],
  accept: ["ACCEPT"],
  drop: ["DROP"],
  saveMark: ["CONNMARK", "--save-mark"],
  restoreMark: ["CONNMARK", "--restore-mark"],
} as const;

/** Whether a rule is for UDP. For UDP, istio-iptables writes `--to-port`, not `--to-ports`. iptables reads both. */
function isUdp(match: readonly Match[]): boolean {
  return match.some((condition) => condition.kind === "protocol" && condition.protocol === "udp");
}
