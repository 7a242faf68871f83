/**
 * Normalises rules of iptables, because releases and back ends print the options of the same rule in different orders
 * and spellings (iptables(8), iptables-extensions(8)).
 */
import { normalBlock } from "../../../golang/net/mod.ts";

/** Numbers of users and groups by name. */
export interface OwnerNames {
  readonly users: ReadonlyMap<string, number>;
  readonly groups: ReadonlyMap<string, number>;
}

/** The options of a rule and their values. A negated value starts with `!`. */
export type RuleOptions = ReadonlyMap<string, string>;

/** Options whose default value only some releases of iptables print. */
const SILENT: Readonly<Record<string, string | undefined>> = {
  "nfmask": "0xffffffff",
  "ctmask": "0xffffffff",
  "on-ip": "0.0.0.0",
};

const SPELLINGS: ReadonlyMap<string, string> = new Map([
  ["to-port", "to-ports"],
  ["set-mark", "set-xmark"],
  ["destination-port", "dport"],
  ["source-port", "sport"],
  ["destination-ports", "dports"],
  ["source-ports", "sports"],
  ["source", "s"],
  ["src", "s"],
  ["destination", "d"],
  ["dst", "d"],
  ["in-interface", "i"],
  ["out-interface", "o"],
  ["protocol", "p"],
  ["proto", "p"],
  ["jump", "j"],
  ["goto", "g"],
  ["state", "ctstate"],
]);

/** Splits a line into arguments. A quoted text is one argument. */
export function argumentsOf(line: string): string[] {
  const found = line.match(/"[^"\\]*(?:\\.[^"\\]*)*"|\S+/g) ?? [];
  return found.map((each) => each.startsWith('"') ? each.slice(1, -1).replace(/\\(.)/g, "$1") : each);
}

/** Parses arguments such as `-p tcp --dport 53 -j RETURN` into options. */
export function ruleOptions(args: readonly string[], names: OwnerNames): RuleOptions {
  const options = new Map<string, string[]>();
  let negation = "";
  let values: string[] = [];
  for (const arg of args) {
    if (arg === "!") negation = "!";
    else if (/^--?[a-zA-Z]/.test(arg)) {
      options.set(optionName(arg), values = [negation]);
      negation = "";
    } else values.push(arg);
  }
  return normalOptions(new Map([...options].map(([name, values]) => [name, joined(values)])), names);
}

/** Joins arguments with spaces, except after the negation `!`. */
function joined(args: readonly string[]): string {
  const [negation = "", ...values] = args;
  return negation + values.join(" ");
}

function optionName(arg: string): string {
  const name = arg.replace(/^--?/, "");
  return SPELLINGS.get(name) ?? name;
}

/** Returns options in one spelling, sorted by name. */
export function normalOptions(options: ReadonlyMap<string, string>, names: OwnerNames): RuleOptions {
  const entries = [...options].flatMap(([name, text]): [string, string][] => {
    const negation = text.startsWith("!") ? "!" : "";
    const written = text.slice(negation.length);
    const value = NORMAL_VALUES.get(name)?.(written, names) ?? written;
    const isSilent = name === "m" || SILENT[name] === value || negation === "" && isAny(name, value);
    return isSilent ? [] : [[name, negation + value]];
  });
  return new Map(entries.sort(([a], [b]) => a < b ? -1 : 1));
}

/**
 * Whether an option means any address. Such an option is dropped, because no release of iptables prints `-s` or `-d`
 * with a block of all addresses, and only some releases print `--on-ip ::` for TPROXY.
 */
function isAny(name: string, value: string): boolean {
  return (name === "s" || name === "d") && value.endsWith("/0") || name === "on-ip" && value === "::";
}

type Normalize = (value: string, names: OwnerNames) => string;

const NORMAL_VALUES: ReadonlyMap<string, Normalize> = new Map<string, Normalize>([
  ["s", normalBlock],
  ["d", normalBlock],
  ["mark", normalMark],
  ["connmark", normalMark],
  ["set-xmark", normalMark],
  ["tproxy-mark", normalMark],
  ["ctstate", (value) => value.split(",").sort().join(",")],
  ["uid-owner", (value, { users }) => String(users.get(value) ?? value)],
  ["gid-owner", (value, { groups }) => String(groups.get(value) ?? value)],
]);

/** Normalises a mark: every spelling of number and mask becomes a text such as `0x539/0xffffffff`. */
function normalMark(text: string): string {
  const [value = "", mask = "0xffffffff"] = text.split("/");
  const hex = (number: string) => /^(0x[0-9a-f]+|\d+)$/i.test(number) ? `0x${Number(number).toString(16)}` : number;
  return `${hex(value)}/${hex(mask)}`;
}

/** Returns a key that is equal for all spellings of the same rule. */
export function ruleKey(options: RuleOptions): string {
  return [...options].map(([name, value]) => `${name}=${value}`).join(" ");
}
