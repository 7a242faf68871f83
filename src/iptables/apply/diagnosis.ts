/** What is missing when iptables or nft fail: their messages, and what to do about it. */

interface Cause {
  readonly said: RegExp;
  readonly hint: string | ((line: string) => string);
}

/** Kernel modules by what a rule needs (spec/iptables.md 4.5). */
const MODULES: readonly (readonly [RegExp, string])[] = [
  [/--[ug]id-owner|sk[ug]id/, "xt_owner"],
  [/-j CT|ct zone/, "xt_CT nf_conntrack"],
  [/TPROXY|tproxy/, "xt_TPROXY nf_tproxy_ipv4 nf_tproxy_ipv6"],
  [/REDIRECT|redirect/, "xt_REDIRECT nf_nat"],
  [/CONNMARK|connmark|ct mark/, "xt_connmark"],
  [/ctstate|ct state/, "xt_conntrack nf_conntrack"],
  [/multiport/, "xt_multiport"],
  [/MARK|--mark|meta mark/, "xt_mark"],
  [/comment/, "xt_comment"],
];

/** What a process without the capability needs. */
export const NET_ADMIN =
  'The container needs the capability NET_ADMIN (securityContext.capabilities.add: ["NET_ADMIN", "NET_RAW"]) and user 0';

const CAUSES: readonly Cause[] = [
  { said: /permission denied.*must be root|operation not permitted|you must be root/i, hint: NET_ADMIN },
  {
    said: /another app is currently holding the xtables lock/i,
    hint: "Another program is changing rules: wait longer with --wait",
  },
  {
    said: /can't open lock file|xtables\.lock/i,
    hint: "Make /run writable, or set XTABLES_LOCKFILE to a file that can be written",
  },
  {
    said: /can't initialize ip6tables table|ip6tables.*table does not exist/i,
    hint: "The node has no IPv6 NAT: run there: modprobe ip6table_nat ip6table_mangle ip6table_raw",
  },
  {
    said: /can't initialize iptables table|table does not exist/i,
    hint: "Run on the node: modprobe iptable_nat iptable_mangle iptable_raw, or use --force-iptables-binary nft",
  },
  {
    said:
      /couldn't load (match|target)|no chain\/target\/match by that name|operation not supported|extension .* not supported/i,
    hint: modulesFor,
  },
  {
    said: /protocol not supported|could not fetch rule set generation|netlink.*not supported/i,
    hint: "Run on the node: modprobe nf_tables, or use --force-iptables-binary legacy",
  },
  {
    said: /group does not exist|bad value for .*owner/i,
    hint: "The user or group does not exist in this container: write its number",
  },
];

function modulesFor(line: string): string {
  const modules = MODULES.filter(([pattern]) => pattern.test(line)).map(([, name]) => name);
  return `Run on the node: modprobe ${
    modules.length === 0 ? "nf_nat xt_REDIRECT xt_owner xt_comment" : modules.join(" ")
  }`;
}

/** The line of the input that a message is about, and what to do; either may be unknown. */
export function diagnose(said: string, input = ""): { readonly line?: string; readonly hint?: string } {
  const number = /line:? (\d+)/i.exec(said)?.[1];
  const line = number === undefined ? undefined : input.split("\n")[Number(number) - 1];
  const cause = CAUSES.find((candidate) => candidate.said.test(said));
  const hint = typeof cause?.hint === "function" ? cause.hint(line ?? said) : cause?.hint;
  return { ...(line === undefined ? {} : { line }), ...(hint === undefined ? {} : { hint }) };
}
