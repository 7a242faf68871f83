/**
 * `RETURN` rules for whole interfaces, which say nothing of who made them: ours are told by where they stand, next to
 * the rules that were appended or inserted with them.
 */
import type { SavedRule, SavedTable } from "./save.ts";

/** Whether a rule in a built-in chain is one of ours by itself. */
export type IsOwn = (rule: SavedRule) => boolean;

/** The rules of `--istio-exclude-interfaces` and `--kube-virt-interfaces` in a table that has chains of ours. */
export function interfaceRules({ name, rules }: SavedTable, isOwn: IsOwn): SavedRule[] {
  if (name !== "nat" && name !== "mangle") return [];
  const input = rules.filter(({ chain }) => chain === "PREROUTING");
  const output = rules.filter(({ chain }) => chain === "OUTPUT");
  return [...excluded(input, output, isOwn), ...(name === "nat" ? virtual(input) : [])];
}

/**
 * An excluded interface has a rule for what comes in and one for what goes out, each right before the first that was
 * appended after it. Where nothing is captured inbound there is none, and the rule that goes out tells.
 */
function excluded(input: readonly SavedRule[], output: readonly SavedRule[], isOwn: IsOwn): SavedRule[] {
  const isAppended = (rule: SavedRule) => isOwn(rule) && rule.options.get("j") !== "ISTIO_REDIRECT";
  const out = output.filter((_, at) => leadsTo(output, at, "o", isAppended));
  const into = input.some(isAppended)
    ? input.filter((_, at) => leadsTo(input, at, "i", isAppended))
    : input.filter((rule) => isPlainReturn(rule, "i"));
  const names = (rules: readonly SavedRule[], option: string) =>
    new Set(rules.map(({ options }) => options.get(option)));
  const [outNames, inNames] = [names(out, "o"), names(into, "i")];
  return [
    ...into.filter(({ options }) => outNames.has(options.get("i"))),
    ...out.filter(({ options }) => inNames.has(options.get("o"))),
  ];
}

/** Whether from this rule on there are only plain `RETURN` rules up to one that was appended with them. */
function leadsTo(rules: readonly SavedRule[], at: number, option: "i" | "o", isAppended: IsOwn): boolean {
  const next = rules.slice(at).find((rule) => !isPlainReturn(rule, option));
  const self = rules[at];
  return self !== undefined && isPlainReturn(self, option) && next !== undefined && isAppended(next);
}

/** What virtual machines send: the redirections were inserted at the top last, the `RETURN` rules before them. */
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
