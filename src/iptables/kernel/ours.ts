/**
 * Which rules in the kernel are of istio-iptables, of any release since 1.0, whatever settings they were made with.
 * A rule in one of our chains is ours. Of a rule in a built-in chain its shape tells.
 */
import type { RuleOptions } from "./rule_words.ts";
import type { SavedRule, SavedTable } from "./saved.ts";

/** Whether a chain is one of ours: `ISTIO_` stands before every one that any release made. */
export function isOurChain(chain: string): boolean {
  return chain.startsWith("ISTIO_");
}

/** A shape of rules: the table, the chain, and what each option has to be; no other option may be there. */
interface Shape {
  readonly table: string;
  readonly chain: string;
  readonly options: Readonly<Record<string, RegExp>>;
  readonly optional?: Readonly<Record<string, RegExp>>;
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
  { table: "mangle", chain: "PREROUTING", options: { ctstate: /^INVALID$/, j: /^DROP$/ } },
  {
    table: "nat",
    chain: "OUTPUT",
    options: { p: /^(tcp|udp)$/, dport: /^53$/, j: /^REDIRECT$/, "to-ports": /^150[15]3$/ },
    optional: { d: ANY },
  },
  { table: "nat", chain: "OUTPUT", options: { p: /^udp$/, dport: /^53$/, "uid-owner": ANY, j: /^RETURN$/ } },
  { table: "nat", chain: "OUTPUT", options: { p: /^udp$/, dport: /^53$/, "gid-owner": ANY, j: /^RETURN$/ } },
  {
    table: "raw",
    chain: "OUTPUT",
    options: { p: /^udp$/, dport: /^53$/, j: /^CT$/, zone: ZONE },
    optional: { ...OWNER, d: ANY },
  },
  {
    table: "raw",
    chain: "OUTPUT",
    options: { p: /^udp$/, sport: /^150[15]3$/, j: /^CT$/, zone: ZONE },
    optional: OWNER,
  },
  {
    table: "raw",
    chain: "PREROUTING",
    options: { p: /^udp$/, sport: /^53$/, j: /^CT$/, zone: ZONE },
    optional: { s: ANY },
  },
];

function hasShape(shape: Shape, options: RuleOptions): boolean {
  const required = Object.entries(shape.options);
  const known = (name: string, value: string) => (shape.options[name] ?? shape.optional?.[name])?.test(value) ?? false;
  return required.every(([name, pattern]) => pattern.test(options.get(name) ?? "!absent")) &&
    [...options].every(([name, value]) => known(name, value));
}

/** A rule of ours and the table that it is in. */
export interface OwnRule {
  readonly table: string;
  readonly rule: SavedRule;
}

/** Which of the rules in built-in chains are ours. `families` are the tables of each family. */
export function ownBuiltInRules(families: readonly (readonly SavedTable[])[]): ReadonlySet<SavedRule> {
  const interfaces = new Set(families.flatMap(virtualInterfaces));
  return new Set(families.flatMap((tables) => ownOfFamily(tables, interfaces)));
}

/** Interfaces whose traffic a rule of ours redirects: their `RETURN` rules are ours too. */
function virtualInterfaces(tables: readonly SavedTable[]): string[] {
  return tables.filter(({ name }) => name === "nat").flatMap(({ rules }) => rules)
    .filter(({ chain, options }) => chain === "PREROUTING" && options.get("j") === "ISTIO_REDIRECT")
    .flatMap(({ options }) => options.get("i") ?? []);
}

function ownOfFamily(tables: readonly SavedTable[], virtual: ReadonlySet<string>): SavedRule[] {
  const haveChains = tables.some(({ chains }) => chains.some(isOurChain));
  return tables.flatMap((table) => {
    const direct = table.rules.filter(({ chain }) => !isOurChain(chain));
    const excluded = excludedInterfaces(direct);
    const isOwn = (rule: SavedRule) =>
      isOurChain(rule.options.get("j") ?? rule.options.get("g") ?? "") || rule.options.get("nflog-group") === "1337" ||
      haveChains &&
        (SHAPES.some((shape) =>
          shape.table === table.name && shape.chain === rule.chain && hasShape(shape, rule.options)
        ) ||
          isInterfaceRule(rule, table.name, virtual, excluded));
    return [...direct.filter(isOwn), ...(table.name === "filter" ? blockedIpv6(direct) : [])];
  });
}

/** Interfaces that have a plain `RETURN` both for what comes in and for what goes out: `--istio-exclude-interfaces`. */
function excludedInterfaces(rules: readonly SavedRule[]): ReadonlySet<string> {
  const names = (chain: string, option: string) =>
    rules.filter((rule) => rule.chain === chain && isPlainReturn(rule, option)).map(({ options }) =>
      options.get(option) ?? ""
    );
  const out = new Set(names("OUTPUT", "o"));
  return new Set(names("PREROUTING", "i").filter((name) => out.has(name)));
}

function isPlainReturn({ options }: SavedRule, option: string): boolean {
  return options.get("j") === "RETURN" && options.has(option) &&
    [...options.keys()].every((name) => ["j", option, "comment"].includes(name));
}

function isInterfaceRule(
  rule: SavedRule,
  table: string,
  virtual: ReadonlySet<string>,
  excluded: ReadonlySet<string>,
): boolean {
  if (table !== "nat" && table !== "mangle") return false;
  if (rule.chain === "OUTPUT") return isPlainReturn(rule, "o") && excluded.has(rule.options.get("o") ?? "");
  const name = rule.options.get("i") ?? "";
  return rule.chain === "PREROUTING" && isPlainReturn(rule, "i") &&
    (excluded.has(name) || table === "nat" && virtual.has(name));
}

/** Until 1.4 a pod without an IPv6 address got these three as its whole chain INPUT: all IPv6 was refused. */
function blockedIpv6(rules: readonly SavedRule[]): SavedRule[] {
  const input = rules.filter(({ chain }) => chain === "INPUT");
  const keys = ["ctstate=ESTABLISHED j=ACCEPT", "d=::1/128 i=lo j=ACCEPT", "j=REJECT"];
  const at = input.findIndex((_, start) => keys.every((key, step) => input[start + step]?.key.startsWith(key)));
  return at < 0 ? [] : input.slice(at, at + keys.length);
}
