/** Reads the rules for a trace from saved texts, or plans them from arguments. */
import { parseAddress } from "../../golang/net/mod.ts";
import type { HeldRule } from "../apply/survey.ts";
import { heldSettings } from "../rules_to_settings.ts";
import { listedTables } from "../kernel/nftables/content.ts";
import type { OwnerNames } from "../kernel/xtables/rule_options.ts";
import { isOwnedChain, parseSave, type SavedTable } from "../kernel/xtables/save.ts";
import { plannedChains, plannedRule } from "../kernel/xtables/transaction.ts";
import { makePlan } from "../plan/plan.ts";
import { type Family, type Plan, rulesOf, TABLES } from "../plan/rule.ts";
import { readSettings } from "../settings/read.ts";
import type { CaptureSettings } from "../settings/settings.ts";

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
    ...iptables === undefined ? [] : traced(parseSave(iptables, NAMES), 4),
    ...ip6tables === undefined ? [] : traced(parseSave(ip6tables, NAMES), 6),
    ...nft === undefined ? [] : traced(listedTables(nft, NAMES)),
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
  const rules = plan.families.flatMap((family) => ofPlan(plan, family));
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

/** Adds to each rule its table and its position in the chain. */
function traced(tables: readonly SavedTable[], of?: Family): TracedRule[] {
  return tables.flatMap(({ name, rules }) => {
    const counts = new Map<string, number>();
    return rules.map(({ chain, options, text, packets, family = of }) => {
      const place = (counts.get(chain) ?? 0) + 1;
      counts.set(chain, place);
      return { family, table: name, chain, options, text, packets, place };
    });
  });
}

function ofPlan(plan: Plan, family: Family): TracedRule[] {
  const all = rulesOf(plan, family);
  const tables = TABLES.map((name): SavedTable => {
    const own = all.filter(({ table }) => table === name);
    return {
      name,
      chains: [],
      rules: [...plannedChains(own, (rule) => plannedRule(rule, { names: NAMES })).values()].flat(),
    };
  });
  return traced(tables, family);
}
