/** What a namespace holds, as text that two runs can be compared by. */
import type { Namespace } from "./pod.ts";

/** Rules of each back end and family, policy rules, routes, addresses. */
export interface State {
  readonly nft4: string;
  readonly nft6: string;
  readonly legacy4: string;
  readonly legacy6: string;
  readonly inet: string;
  readonly routing: string;
}

/** Lists only existing tables of iptables-legacy, because listing a table creates it. */
const SCRIPT = `
for i in $(seq 200); do [ -z "$(ip -6 -o addr show dev lo tentative)" ] && break; sleep 0.05; done
echo "@@nft4"; iptables-nft-save 2>/dev/null
echo "@@nft6"; ip6tables-nft-save 2>/dev/null
echo "@@legacy4"; for t in $(sort /proc/net/ip_tables_names 2>/dev/null); do iptables-legacy-save -t $t; done
echo "@@legacy6"; for t in $(sort /proc/net/ip6_tables_names 2>/dev/null); do ip6tables-legacy-save -t $t; done
echo "@@inet"; nft -s list ruleset inet 2>/dev/null
echo "@@routing"; ip rule; ip -6 rule; ip route show table all; ip -6 route show table all | grep 'table [0-9]' || true
ip -6 -o addr show dev lo
`;

/**
 * Reads the state without comments, counters, link addresses and empty tables of iptables-legacy. Waits for "tentative"
 * addresses: the kernel adds their routes after the command that adds the address.
 */
export async function stateOf(namespace: Namespace): Promise<State> {
  const parts = new Map(
    (await namespace.shell(SCRIPT)).split(/^@@/m).map((part) => {
      const end = part.indexOf("\n");
      return [part.slice(0, end), part.slice(end + 1)] as const;
    }),
  );
  const rules = (name: string) => ruleText(parts.get(name) ?? "");
  return {
    nft4: rules("nft4"),
    nft6: rules("nft6"),
    legacy4: withoutEmptyTables(rules("legacy4")),
    legacy6: withoutEmptyTables(rules("legacy6")),
    inet: parts.get("inet") ?? "",
    routing: (parts.get("routing") ?? "").replaceAll(/ +$/gm, "").replaceAll(/valid_lft.*$/gm, "")
      .replaceAll(/^.*\bfe80:.*\n/gm, ""),
  };
}

function ruleText(text: string): string {
  const lines = text.split("\n").filter((line) => line !== "" && !line.startsWith("#"));
  return lines.map((line) => line.replace(/ \[\d+:\d+\]$/, "")).join("\n");
}

/** The kernel keeps an empty table of iptables-legacy until the namespace ends. */
function withoutEmptyTables(text: string): string {
  const tables = text.match(/^\*[^]*?^COMMIT$/gm) ?? [];
  return tables.filter((table) => /^-A|^:\S+ (-|DROP)/m.test(table)).join("\n");
}
