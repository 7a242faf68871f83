/** Describes the steps of a packet as text. */
import { VERDICT } from "../kernel/netfilter/expressions.ts";
import type { Ruleset } from "../kernel/netfilter/ruleset.ts";
import { listedText } from "../kernel/nftables/content.ts";
import { savedText } from "../kernel/xtables/compat_text.ts";
import { FAMILIES, TABLE_FAMILY } from "../plan/rule.ts";
import type { Step } from "./message.ts";
import { TRACE_TABLE } from "./trace_table.ts";

/** The final outcome for a packet. */
export interface Ending {
  /** A text such as `it is redirected to port 15001`. */
  readonly text: string;
  /** The port, if the packet is redirected. */
  readonly port: number | undefined;
}

/** Verdicts after which the kernel continues with the next rule (NFT_CONTINUE, NFT_BREAK). */
const NEXT = [-1, -2];

/** Returns a line for each step outside the tracing table, and the final outcome for the packet. */
export function pathOf(ruleset: Pick<Ruleset, "tables">, steps: readonly Step[]) {
  const shown = steps.filter(({ table }) => table !== TRACE_TABLE);
  const lines = shown.flatMap((step) => {
    const { table, chain, type } = step;
    // An empty chain reports only its policy.
    if (type !== "rule") return type === "policy" && step.code === VERDICT.drop ? [`${table} ${chain}: dropped`] : [];
    const { place, text } = ruleOf(ruleset, step);
    // The kernel also reports the end of a chain, as a rule without a position.
    if (place === 0 && NEXT.includes(step.code)) return [];
    const rule = place === 0 ? "a deleted rule" : `rule ${place}`;
    return [`${table} ${chain}, ${rule}: ${verdictText(step, text)}${text === "" ? "" : `   (${text})`}`];
  });
  return { lines, ending: endingOf(ruleset, shown) };
}

/**
 * Returns a rule's position in its chain, from 1, and its text as iptables or nft lists it; 0 and `""` if the rule is
 * unknown.
 */
function ruleOf({ tables }: Pick<Ruleset, "tables">, { table, chain, handle }: Step) {
  const rules = tables.get(table)?.chains.get(chain)?.rules ?? [];
  const at = rules.findIndex((rule) =>
    handle !== undefined && rule.handle.every((byte, index) => byte === handle[index])
  );
  const rule = rules[at];
  if (rule === undefined) return { place: 0, text: "" };
  const family = FAMILIES.find((each) => table.startsWith(`${TABLE_FAMILY[each]} `));
  return { place: at + 1, text: family === undefined ? listedText(rule) : savedText(rule, family) };
}

function verdictText({ code, target }: Step, text: string): string {
  const port = redirection(text);
  if (port !== undefined && code !== VERDICT.drop) return `redirected to port ${port}`;
  if (code === VERDICT.jump || code === VERDICT.goto) return `goes to ${target ?? "another chain"}`;
  if (code === VERDICT.return) return "returns";
  if (code === VERDICT.drop) return "dropped";
  return NEXT.includes(code) ? "goes on" : "accepted";
}

const REDIRECTION = /(?:--to-ports?|--on-port|redirect to :|tproxy (?:ip6? )?to :)\s*(\d+)/;

function redirection(text: string): number | undefined {
  const port = REDIRECTION.exec(text)?.[1];
  return port === undefined ? undefined : Number(port);
}

function endingOf(ruleset: Pick<Ruleset, "tables">, steps: readonly Step[]): Ending {
  for (const step of steps) {
    if (step.code === VERDICT.drop && step.type !== "return") return { text: "it is dropped", port: undefined };
    const port = step.type === "rule" ? redirection(ruleOf(ruleset, step).text) : undefined;
    if (port !== undefined) return { text: `it is redirected to port ${port}`, port };
  }
  return { text: "no rule redirects it", port: undefined };
}
