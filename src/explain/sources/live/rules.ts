/** Reads the kernel's rules with commands in a container that has NET_ADMIN. */
import type { Part, PartName } from "../../snapshot/snapshot.ts";
import type { PartCommand } from "./questions.ts";

/** Runs commands. Returns the output of each command, or the reason why it is absent. */
export type Ask = (commands: readonly PartCommand[]) => Promise<readonly (readonly [PartName, Part])[]>;

const PROGRAMS = ["iptables", "ip6tables"] as const;

function commandOf(program: typeof PROGRAMS[number], suffix: string): PartCommand {
  return { part: `rules.${program}`, command: [`${program}${suffix}`, "-c"] };
}

/** Text that iptables-nft prints if legacy tables exist too. */
const LEGACY = "iptables-legacy tables present";

/** Returns the IPv4 and IPv6 rules, from nf_tables and, if present, from the legacy tables. */
export async function readRules(ask: Ask): Promise<ReadonlyMap<PartName, Part>> {
  const found = new Map(await ask(PROGRAMS.map((program) => commandOf(program, "-save"))));
  const legacy = PROGRAMS.filter((program) => found.get(`rules.${program}`)?.text?.includes(LEGACY));
  const more = legacy.length === 0 ? [] : await ask(legacy.map((program) => commandOf(program, "-legacy-save")));
  for (const [part, value] of more) {
    const before = found.get(part)?.text ?? "";
    found.set(part, value.text === undefined ? value : { text: `${before}\n${value.text}` });
  }
  return found;
}
