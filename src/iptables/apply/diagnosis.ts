/** Finds hints for error messages from iptables and nft. */

interface Cause {
  readonly message: RegExp;
  /** The hint, or a function that builds the hint from the failed input line and the message. */
  readonly hint: string | ((line: string, message: string) => string);
}

/** Kernel modules that a rule with this text needs (spec/iptables.md 4.5), first for xtables, then for nftables. */
const MODULES: readonly (readonly [RegExp, string])[] = [
  [/--[ug]id-owner/, "xt_owner"],
  [/-j CT\b/, "xt_CT nf_conntrack"],
  [/-j TPROXY/, "xt_TPROXY nf_tproxy_ipv4 nf_tproxy_ipv6"],
  [/-j REDIRECT/, "xt_REDIRECT nf_nat"],
  [/CONNMARK|connmark/, "xt_connmark"],
  [/--ctstate/, "xt_conntrack nf_conntrack"],
  [/multiport/, "xt_multiport"],
  [/-j MARK|-m mark/, "xt_mark"],
  [/--comment/, "xt_comment"],
  [/redirect to/, "nft_redir"],
  [/tproxy (ip6? )?to/, "nft_tproxy"],
  [/\bct (zone|mark|state)/, "nft_ct nf_conntrack"],
  [/type nat hook/, "nft_chain_nat nf_nat"],
  [/add table inet/, "nf_tables_inet"],
];

export const NET_ADMIN =
  'The container needs the capability NET_ADMIN (securityContext.capabilities.add: ["NET_ADMIN", "NET_RAW"]) and user 0';

const NO_TABLE = /can't initialize ip6?tables table|unable to initialize table|table does not exist/i;

/** Known causes of failure. The first match wins. */
const CAUSES: readonly Cause[] = [
  { message: /operation not permitted|must be root/i, hint: NET_ADMIN },
  {
    message: /no buffer space available|cannot allocate memory|memory allocation|out of memory/i,
    hint: "The kernel refused memory: raise the memory limit of the container, or free memory on the node",
  },
  {
    message: /another app is currently holding the xtables lock/i,
    hint: "Another program is changing rules: wait longer with --wait",
  },
  {
    message: /can't open lock file|xtables\.lock/i,
    hint: "Make /run writable, or set XTABLES_LOCKFILE to a writable file",
  },
  {
    message: /is incompatible, use 'nft' tool/i,
    hint: "Another program changed this table with nft, and iptables cannot read it: use --native-nftables",
  },
  { message: NO_TABLE, hint: tableHint },
  {
    message: /extension \S+ (?:revision \d+ )?(?:is )?not supported|couldn't load (?:match|target)/i,
    hint: (line, message) => extensionHint(message) ?? modulesHint(line),
  },
  {
    message: /no chain\/target\/match by that name|operation not supported|could not process rule: no such file/i,
    hint: modulesHint,
  },
  { message: /rule_(append|insert) failed \(no such file or directory\)/i, hint: modulesHint },
  {
    message: /protocol not supported|could not fetch rule set generation|failed to initialize nft/i,
    hint: "Run on the node: modprobe nf_tables, or use --force-iptables-binary legacy",
  },
  {
    message: /(group|user) does not exist|bad value for "--[gu]id-owner/i,
    hint: "The user or group does not exist in this container: use its number",
  },
];

/** Each table of iptables-legacy needs a kernel module for each address family. */
function tableHint(_line: string, message: string): string {
  if (!/ip6tables/i.test(message)) {
    return "Run on the node: modprobe iptable_nat iptable_mangle iptable_raw, or use --force-iptables-binary nft";
  }
  return "The node lacks the iptables table for IPv6. Run on the node: modprobe ip6table_nat ip6table_mangle ip6table_raw, or use --force-iptables-binary nft";
}

/**
 * Returns a hint for a message that names an extension: `Extension owner revision 0 not supported, missing kernel
 * module?`.
 */
function extensionHint(message: string): string | undefined {
  const name = /extension (\S+) |couldn't load (?:match|target) [`'"]?(\w+)/i.exec(message);
  const extension = name?.[1] ?? name?.[2];
  return extension === undefined ? undefined : `Run on the node: modprobe xt_${extension}`;
}

/** Returns a hint that names the kernel modules a rule needs. */
export function modulesHint(line: string): string {
  const modules = MODULES.filter(([pattern]) => pattern.test(line)).map(([, name]) => name);
  return `Run on the node: modprobe ${
    modules.length === 0 ? "nf_nat xt_REDIRECT xt_owner xt_comment" : modules.join(" ")
  }`;
}

/** Finds the failed input line and a hint in an error message. */
export function diagnose(message: string, input = ""): { readonly line?: string; readonly hint?: string } {
  const number = /(?:line:? |stdin:)(\d+)/i.exec(message)?.[1];
  const line = number === undefined ? undefined : input.split("\n")[Number(number) - 1];
  const cause = CAUSES.find((candidate) => candidate.message.test(message));
  const hint = typeof cause?.hint === "function" ? cause.hint(line ?? message, message) : cause?.hint;
  return { ...(line === undefined ? {} : { line }), ...(hint === undefined ? {} : { hint }) };
}
