/** Reads the rules for a trace from saved texts, or plans them from arguments. */
import { parseAddress } from "../../golang/net/mod.ts";
import { type HeldRule, ofNft as ruleOfNft } from "../held/rules.ts";
import { heldSettings } from "../held/settings.ts";
import { readListing } from "../kernel/nftables/content.ts";
import type { OwnerNames } from "../kernel/xtables/rule_options.ts";
import { isOwnedChain, parseSave } from "../kernel/xtables/save.ts";
import { makePlan } from "../plan/plan.ts";
import type { Family } from "../plan/rule.ts";
import { readSettings } from "../settings/read.ts";
import type { CaptureSettings } from "../settings/settings.ts";
import { NFT_TABLES } from "../views/nft.ts";
import { restoreText } from "../views/restore.ts";

export interface TracedRule extends HeldRule {
  readonly place: number;
  readonly text: string;
  /** The number of packets that matched the rule; `undefined` if the text has no counters. */
  readonly packets: number | undefined;
}

export interface TracedRules {
  readonly rules: readonly TracedRule[];
  readonly settings: CaptureSettings;
  /** Whether the rules contain a chain of Istio. */
  readonly isCaptured: boolean;
}

export interface SavedTexts {
  /** The output of `iptables-save`, with or without counters. */
  readonly iptables: string | undefined;
  readonly ip6tables: string | undefined;
  readonly nft: string | undefined;
}

const NAMES: OwnerNames = { users: new Map(), groups: new Map() };

/** Parses rules from saved texts. Throws a SyntaxError if the text of nft is JSON. */
export function savedRules({ iptables, ip6tables, nft }: SavedTexts): TracedRules {
  if (nft?.trimStart().startsWith("{")) {
    throw new SyntaxError("the nft rules are JSON, not the text output of `nft list ruleset`");
  }
  const rules = [
    ...iptables === undefined ? [] : ofSave(iptables, 4),
    ...ip6tables === undefined ? [] : ofSave(ip6tables, 6),
    ...nft === undefined ? [] : ofNft(nft),
  ];
  return tracedRules(rules, heldSettings(rules, new Map(), DEFAULTS));
}

export interface PlannedNetwork {
  readonly hasIpv6: boolean;
  /** Addresses of DNS servers. Strings that are not addresses are ignored. */
  readonly dnsServers: readonly string[];
  readonly environment?: Readonly<Record<string, string>>;
  /** Whether the arguments are for `istio-iptables.sh`. */
  readonly isScript?: boolean;
}

/** Returns the rules that `istio-iptables` creates for these arguments, or the problems if they are invalid. */
export function plannedRules(args: readonly string[], network: PlannedNetwork): TracedRules | readonly string[] {
  const { settings, problems } = readSettings(args, network.environment ?? {}, {
    ...NAMES,
    isPrintOnly: true,
    isScript: network.isScript ?? false,
  });
  if (settings === undefined) {
    return problems.map(({ origin, reason }) => origin === "" ? reason : `${origin}: ${reason}`);
  }
  const dnsServers = network.dnsServers.map(parseAddress).filter((address) => typeof address !== "string");
  const plan = makePlan(settings.capture, { hasIpv6: network.hasIpv6, dnsServers });
  const rules = plan.families.flatMap((family) => ofPlan(restoreText(plan, family), family));
  return tracedRules(rules, settings.capture);
}

/** The default settings. */
const DEFAULTS: CaptureSettings = defaults();

function defaults(): CaptureSettings {
  const { settings } = readSettings([], {}, { ...NAMES, isPrintOnly: true });
  if (settings === undefined) throw new Error("The default settings are invalid");
  return settings.capture;
}

function tracedRules(rules: readonly TracedRule[], settings: CaptureSettings): TracedRules {
  return { rules, settings, isCaptured: rules.some(({ chain }) => isOwnedChain(chain)) };
}

/** Adds to each rule its position in the chain. */
function placed(rules: readonly Omit<TracedRule, "place">[]): TracedRule[] {
  const counts = new Map<string, number>();
  return rules.map((rule) => {
    const key = `${rule.table} ${rule.chain}`;
    const place = (counts.get(key) ?? 0) + 1;
    counts.set(key, place);
    return { ...rule, place };
  });
}

function ofSave(text: string, family: Family): TracedRule[] {
  return placed(
    parseSave(text, NAMES).flatMap(({ name, rules }) =>
      rules.map(({ chain, options, text, packets }) => ({ family, table: name, chain, options, text, packets }))
    ),
  );
}

/**
 * Parses the text of a plan. Reads `* nat` as `*nat`, as iptables-restore does, and puts inserted rules at their
 * positions.
 */
function ofPlan(text: string, family: Family): TracedRule[] {
  const lines = text.replaceAll("* ", "*").split("\n");
  const ordered: string[] = [];
  for (const line of lines) {
    const [, chain, place, rest] = /^-I (\S+) (\d+) (.*)$/.exec(line) ?? [];
    if (chain === undefined) ordered.push(line);
    else insert(ordered, `-A ${chain} ${rest}`, { chain, place: Number(place) });
  }
  return ofSave(ordered.join("\n"), family);
}

function insert(lines: string[], line: string, { chain, place }: { readonly chain: string; readonly place: number }) {
  const table = lines.findLastIndex((each) => each.startsWith("*"));
  const own = lines.flatMap((each, at) => at > table && each.startsWith(`-A ${chain} `) ? [at] : []);
  lines.splice(own[place - 1] ?? lines.length, 0, line);
}

function ofNft(listing: string): TracedRule[] {
  const tables = readListing(listing, NAMES);
  return placed(
    NFT_TABLES.flatMap(({ table, name }) =>
      [...tables.get(name) ?? []].flatMap(([chain, rules]) =>
        rules.map(({ key, packets }) => ({
          ...ruleOfNft(table, chain, key),
          text: key.replace(/ # .*$/s, ""),
          packets,
        }))
      )
    ),
  );
}
