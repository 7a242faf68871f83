/**
 * Which rules in the kernel are of istio-iptables, of any release since 1.0, whatever settings they were made with.
 * A rule in one of our chains is ours. Of a rule in a built-in chain its shape tells.
 */
import type { RuleOptions } from "./rule_options.ts";
import { interfaceRules } from "./interface_rules.ts";
import { isOurChain, type SavedRule, type SavedTable } from "./save.ts";

/** A shape of rules: the table, the chain, and what each option has to be; no other option may be there. */
interface Shape {
  readonly table: string;
  readonly chain: string;
  readonly options: Readonly<Record<string, RegExp>>;
  readonly optional?: Readonly<Record<string, RegExp>>;
  /** Only releases until 1.24 made it; others are told by a chain of ours in the same table. */
  readonly isOld?: true;
}

const ANY = /^[^!]/;
const MARK = /^0x[0-9a-f]+\/0xffffffff$/;
const ZONE = /^[12]$/;
const OWNER = { "uid-owner": ANY, "gid-owner": ANY, comment: ANY };
const COMMENT = { comment: ANY };

/** Shapes of the rules that releases put straight into the chains of the kernel. */
const SHAPES: readonly Shape[] = [
  {
    table: "mangle",
    chain: "PREROUTING",
    options: { p: /^tcp$/, mark: MARK, j: /^CONNMARK$/, "save-mark": /^$/ },
    optional: COMMENT,
  },
  {
    table: "mangle",
    chain: "OUTPUT",
    options: { p: /^tcp$/, mark: MARK, j: /^CONNMARK$/, "restore-mark": /^$/ },
    optional: COMMENT,
  },
  {
    table: "mangle",
    chain: "OUTPUT",
    options: { p: /^tcp$/, o: /^lo$/, mark: MARK, j: /^RETURN$/ },
    optional: COMMENT,
  },
  {
    table: "mangle",
    chain: "OUTPUT",
    options: { p: /^tcp$/, o: /^lo$/, d: /^!/, j: /^MARK$/, "set-xmark": /^0x53a\/0xffffffff$/ },
    optional: OWNER,
  },
  {
    table: "nat",
    chain: "OUTPUT",
    options: { p: /^(tcp|udp)$/, dport: /^53$/, j: /^REDIRECT$/, "to-ports": /^150[15]3$/ },
    optional: { d: ANY },
    isOld: true,
  },
  {
    table: "nat",
    chain: "OUTPUT",
    options: { p: /^udp$/, dport: /^53$/, "uid-owner": ANY, j: /^RETURN$/ },
    isOld: true,
  },
  {
    table: "nat",
    chain: "OUTPUT",
    options: { p: /^udp$/, dport: /^53$/, "gid-owner": ANY, j: /^RETURN$/ },
    isOld: true,
  },
  {
    table: "raw",
    chain: "OUTPUT",
    options: { p: /^udp$/, dport: /^53$/, j: /^CT$/, zone: ZONE },
    optional: { ...OWNER, d: ANY },
    isOld: true,
  },
  {
    table: "raw",
    chain: "OUTPUT",
    options: { p: /^udp$/, sport: /^150[15]3$/, j: /^CT$/, zone: ZONE },
    optional: OWNER,
    isOld: true,
  },
  {
    table: "raw",
    chain: "PREROUTING",
    options: { p: /^udp$/, sport: /^53$/, j: /^CT$/, zone: ZONE },
    optional: { s: ANY },
    isOld: true,
  },
];

function hasShape(shape: Shape, options: RuleOptions): boolean {
  const required = Object.entries(shape.options);
  const known = (name: string, value: string) => (shape.options[name] ?? shape.optional?.[name])?.test(value) ?? false;
  return required.every(([name, pattern]) => pattern.test(options.get(name) ?? "!absent")) &&
    [...options].every(([name, value]) => known(name, value));
}

/** Which of the rules in built-in chains are ours. `families` are the tables of each family. */
export function ownBuiltInRules(families: readonly (readonly SavedTable[])[]): ReadonlySet<SavedRule> {
  return new Set(families.flatMap(ownOfFamily));
}

function ownOfFamily(tables: readonly SavedTable[]): SavedRule[] {
  const isOld = tables.some(({ name, rules }) => name === "nat" && rules.some(isOldJump));
  return tables.flatMap((table) => {
    const isOwn = (rule: SavedRule) => !isOurChain(rule.chain) && (isMarked(rule) || hasKnownShape(table, rule, isOld));
    return [
      ...table.rules.filter(isOwn),
      ...(isOld && table.name === "mangle" ? droppedInvalid(table, isOwn) : []),
      ...(table.chains.some(isOurChain) ? interfaceRules(table, isOwn) : []),
      ...(table.name === "filter" ? blockedIpv6(table.rules) : []),
    ];
  });
}

/** Rules that name a chain of ours, or the group that traces of ours are logged to. */
function isMarked({ options }: SavedRule): boolean {
  return isOurChain(options.get("j") ?? options.get("g") ?? "") || options.get("nflog-group") === "1337";
}

/** Until 1.24 only TCP went to our chain; those releases put rules for DNS and INVALID straight into built-in chains. */
function isOldJump({ chain, options }: SavedRule): boolean {
  return chain === "OUTPUT" && options.get("j") === "ISTIO_OUTPUT" && options.get("p") === "tcp";
}

function hasKnownShape(table: SavedTable, rule: SavedRule, isOld: boolean): boolean {
  return SHAPES.some((shape) =>
    shape.table === table.name && shape.chain === rule.chain && hasShape(shape, rule.options) &&
    (shape.isOld === true ? isOld : table.chains.some(isOurChain))
  );
}

/**
 * Until 1.23 INVALID packets were dropped by a bare rule, as administrators write it too. It is ours if nobody else has
 * anything in the table, or if it is the second of its kind.
 */
function droppedInvalid({ chains, rules }: SavedTable, isOwn: (rule: SavedRule) => boolean): SavedRule[] {
  const alike = rules.filter(({ chain, key }) => chain === "PREROUTING" && key === "ctstate=INVALID j=DROP");
  const isOthers = (rule: SavedRule) => !isOurChain(rule.chain) && !isOwn(rule) && !alike.includes(rule);
  if (chains.every(isOurChain) && !rules.some(isOthers)) return alike;
  return alike.slice(1).slice(-1);
}

/** Until 1.4 a pod without an IPv6 address got these three as its whole chain INPUT: all IPv6 was refused. */
function blockedIpv6(rules: readonly SavedRule[]): SavedRule[] {
  const input = rules.filter(({ chain }) => chain === "INPUT");
  const keys = ["ctstate=ESTABLISHED j=ACCEPT", "d=::1/128 i=lo j=ACCEPT", "j=REJECT"];
  const at = input.findIndex((_, start) => keys.every((key, step) => input[start + step]?.key.startsWith(key)));
  return at < 0 ? [] : input.slice(at, at + keys.length);
}
