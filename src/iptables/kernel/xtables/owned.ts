/**
 * Finds the owned rules in the kernel: rules that istio-iptables of any release since 1.0 creates, with any settings. A
 * rule in an owned chain is owned. A rule in a built-in chain is owned if it has a known shape.
 */
import type { RuleOptions } from "./rule_options.ts";
import { isOwnedChain, type SavedRule, type SavedTable } from "./save.ts";

/** Required and optional options with their values. A rule with any other option does not match the shape. */
interface Shape {
  readonly at: string;
  readonly options: Readonly<Record<string, RegExp>>;
  readonly optional?: Readonly<Record<string, RegExp>>;
  /** Set if only releases until 1.24 create this rule. Other shapes count only in a table with an owned chain. */
  readonly isOld?: true;
}

const ANY = /^[^!]/;
const MARK = /^0x[0-9a-f]+\/0xffffffff$/;
const ZONE = /^[12]$/;
const OWNER = { "uid-owner": ANY, "gid-owner": ANY, comment: ANY };
const COMMENT = { comment: ANY };

const TCP = /^tcp$/;
const UDP = /^udp$/;
const DNS = /^53$/;
const CT = /^CT$/;
const RETURN = /^RETURN$/;

/** Shapes of the rules that Istio releases add directly to built-in chains. */
const SHAPES: readonly Shape[] = [
  { at: "mangle PREROUTING", options: { p: TCP, mark: MARK, j: /^CONNMARK$/, "save-mark": /^$/ }, optional: COMMENT },
  { at: "mangle OUTPUT", options: { p: TCP, mark: MARK, j: /^CONNMARK$/, "restore-mark": /^$/ }, optional: COMMENT },
  { at: "mangle OUTPUT", options: { p: TCP, o: /^lo$/, mark: MARK, j: RETURN }, optional: COMMENT },
  {
    at: "mangle OUTPUT",
    options: { p: TCP, o: /^lo$/, d: /^!/, j: /^MARK$/, "set-xmark": /^0x53a\/0xffffffff$/ },
    optional: OWNER,
  },
  {
    at: "nat OUTPUT",
    options: { p: /^(tcp|udp)$/, dport: DNS, j: /^REDIRECT$/, "to-ports": /^150[15]3$/ },
    optional: { d: ANY },
    isOld: true,
  },
  { at: "nat OUTPUT", options: { p: UDP, dport: DNS, "uid-owner": ANY, j: RETURN }, isOld: true },
  { at: "nat OUTPUT", options: { p: UDP, dport: DNS, "gid-owner": ANY, j: RETURN }, isOld: true },
  { at: "raw OUTPUT", options: { p: UDP, dport: DNS, j: CT, zone: ZONE }, optional: { ...OWNER, d: ANY }, isOld: true },
  { at: "raw OUTPUT", options: { p: UDP, sport: /^150[15]3$/, j: CT, zone: ZONE }, optional: OWNER, isOld: true },
  { at: "raw PREROUTING", options: { p: UDP, sport: DNS, j: CT, zone: ZONE }, optional: { s: ANY }, isOld: true },
];

function hasShape(shape: Shape, options: RuleOptions): boolean {
  const required = Object.entries(shape.options);
  const known = (name: string, value: string) => (shape.options[name] ?? shape.optional?.[name])?.test(value) ?? false;
  return required.every(([name, pattern]) => pattern.test(options.get(name) ?? "!absent")) &&
    [...options].every(([name, value]) => known(name, value));
}

/** Returns the owned rules in the built-in chains of an address family. */
export function ownedRules(tables: readonly SavedTable[]): ReadonlySet<SavedRule> {
  const isOld = tables.some(({ name, rules }) => name === "nat" && rules.some(isOldJump));
  const owned = tables.flatMap((table) => {
    const isOwned = (rule: SavedRule) =>
      !isOwnedChain(rule.chain) && (isMarked(rule) || hasKnownShape(table, rule, isOld));
    return [
      ...table.rules.filter(isOwned),
      ...(isOld && table.name === "mangle" ? droppedInvalid(table, isOwned) : []),
      ...(table.chains.some(isOwnedChain) ? interfaceRules(table, isOwned) : []),
      ...(table.name === "filter" ? blockedIpv6(table.rules) : []),
    ];
  });
  return new Set(owned);
}

/** Whether a rule names an owned chain, or the NFLOG group of Istio's traces. */
function isMarked({ options }: SavedRule): boolean {
  return isOwnedChain(options.get("j") ?? options.get("g") ?? "") || options.get("nflog-group") === "1337";
}

/**
 * Whether the rule comes from a release until 1.24. In these releases, only TCP packets jumped to the owned chain; the
 * rules for DNS and INVALID packets were in built-in chains.
 */
function isOldJump({ chain, options }: SavedRule): boolean {
  return chain === "OUTPUT" && options.get("j") === "ISTIO_OUTPUT" && options.get("p") === "tcp";
}

function hasKnownShape(table: SavedTable, rule: SavedRule, isOld: boolean): boolean {
  return SHAPES.some((shape) =>
    shape.at === `${table.name} ${rule.chain}` && hasShape(shape, rule.options) &&
    (shape.isOld === true ? isOld : table.chains.some(isOwnedChain))
  );
}

/**
 * Finds the rule that, until Istio 1.23, dropped INVALID packets. An administrator may have added the same rule, so the
 * rule counts as owned only if the table has no other foreign rule, or if the table contains the rule twice.
 */
function droppedInvalid({ chains, rules }: SavedTable, isOwned: IsOwned): SavedRule[] {
  const alike = rules.filter(({ chain, key }) => chain === "PREROUTING" && key === "ctstate=INVALID j=DROP");
  const isAlike = new Set(alike);
  const isForeign = (rule: SavedRule) => !isOwnedChain(rule.chain) && !isOwned(rule) && !isAlike.has(rule);
  if (chains.every(isOwnedChain) && !rules.some(isForeign)) return alike;
  return alike.slice(1).slice(-1);
}

/** Finds the three rules that, until Istio 1.4, rejected all IPv6 in a pod without an IPv6 address. */
function blockedIpv6(rules: readonly SavedRule[]): SavedRule[] {
  const input = rules.filter(({ chain }) => chain === "INPUT");
  const keys = ["ctstate=ESTABLISHED j=ACCEPT", "d=::1/128 i=lo j=ACCEPT", "j=REJECT"];
  const at = input.findIndex((_, start) => keys.every((key, step) => input[start + step]?.key.startsWith(key)));
  return at < 0 ? [] : input.slice(at, at + keys.length);
}

type IsOwned = (rule: SavedRule) => boolean;

/**
 * Finds the rules of `--istio-exclude-interfaces` and `--kube-virt-interfaces`. The text of such a `RETURN` rule does
 * not show its owner, but its position next to other owned rules does.
 */
function interfaceRules({ name, rules }: SavedTable, isOwned: IsOwned): SavedRule[] {
  if (name !== "nat" && name !== "mangle") return [];
  const input = rules.filter(({ chain }) => chain === "PREROUTING");
  const output = rules.filter(({ chain }) => chain === "OUTPUT");
  return [...excluded(input, output, isOwned), ...(name === "nat" ? virtual(input) : [])];
}

/**
 * An excluded interface has a rule in PREROUTING and a rule in OUTPUT, each directly before the owned rules that were
 * appended later. Without inbound capture, no owned rule follows in PREROUTING; a plain `RETURN` rule there is then
 * owned if OUTPUT has the matching rule.
 */
function excluded(input: readonly SavedRule[], output: readonly SavedRule[], isOwned: IsOwned): SavedRule[] {
  const isAppended = (rule: SavedRule) => isOwned(rule) && rule.options.get("j") !== "ISTIO_REDIRECT";
  const out = leadingTo(output, "o", isAppended);
  const into = input.some(isAppended)
    ? leadingTo(input, "i", isAppended)
    : input.filter((rule) => isPlainReturn(rule, "i"));
  const names = (rules: readonly SavedRule[], option: string) =>
    new Set(rules.map(({ options }) => options.get(option)));
  const [outNames, inNames] = [names(out, "o"), names(into, "i")];
  return [
    ...into.filter(({ options }) => outNames.has(options.get("i"))),
    ...out.filter(({ options }) => inNames.has(options.get("o"))),
  ];
}

/** Returns the runs of plain `RETURN` rules that end directly before an appended rule. */
function leadingTo(rules: readonly SavedRule[], option: "i" | "o", isAppended: IsOwned): SavedRule[] {
  let leads = false;
  const found = rules.toReversed().filter((rule) => {
    const isPlain = isPlainReturn(rule, option);
    if (!isPlain) leads = isAppended(rule);
    return isPlain && leads;
  });
  return found.reverse();
}

/**
 * Finds the `RETURN` rules of --kube-virt-interfaces. They directly follow the `ISTIO_REDIRECT` rules, and name the same
 * interfaces.
 */
function virtual(input: readonly SavedRule[]): SavedRule[] {
  const jumps = input.filter(({ options }) => options.get("j") === "ISTIO_REDIRECT");
  const names = new Set(jumps.map(({ options }) => options.get("i")));
  const last = jumps.at(-1);
  const below = last === undefined ? [] : input.slice(input.indexOf(last) + 1);
  const end = below.findIndex((rule) => !isPlainReturn(rule, "i") || !names.has(rule.options.get("i")));
  return end < 0 ? below : below.slice(0, end);
}

function isPlainReturn({ options }: SavedRule, option: string): boolean {
  return options.get("j") === "RETURN" && options.has(option) && options.get(option)?.startsWith("!") === false &&
    [...options.keys()].every((name) => ["j", option, "comment"].includes(name));
}
