/** Formats command records for help, man pages and tables of flags. */
import { type Flag, type FlagGroups, type FlagTable, isRepeatable } from "../../golang/flags/mod.ts";
import { EXIT, EXIT_MEANING, type ExitName } from "../../base/errors.ts";
import type { Command, Exits } from "../command.ts";

/** Returns the visible flags by group title, without empty groups. */
export function shownGroups(groups: FlagGroups): (readonly [title: string, flags: readonly Flag[]])[] {
  return Object.entries(groups).flatMap(([title, flags]) => {
    const shown = shownFlags(flags);
    return shown.length === 0 ? [] : [[title, shown] as const];
  });
}

/** Returns the visible flags of a table. */
export function shownFlags(flags: FlagTable): Flag[] {
  return Object.values(flags).filter(({ hidden, retired }) => hidden !== true && retired === undefined);
}

const VALUES: Readonly<Record<Flag["type"], string>> = {
  text: "TEXT",
  file: "FILE",
  address: "ADDRESS",
  name: "NAME",
  tag: "TAG",
  url: "URL",
  choice: "WORD",
  boolean: "",
  integer: "NUMBER",
  port: "PORT",
  duration: "TIME",
  ratio: "NUMBER",
  list: "LIST",
  files: "FILE",
  urls: "URL",
  texts: "TEXT",
};

/** Returns the title of a flag, such as `-o, --output yaml|json`; the environment variable for a setting without a flag. */
export function flagTitle(flag: Flag): string {
  if (flag.name === undefined) return flag.env?.join(", ") ?? "";
  const dashed = flag.short === undefined ? `--${flag.name}` : `-${flag.short}, --${flag.name}`;
  if (flag.implied !== undefined) return `${dashed}[=${flagValue(flag)}]`;
  return `${dashed} ${flagValue(flag)}`.trim();
}

/** Returns the placeholder of a flag's value; `""` for a boolean. */
export function flagValue({ type, value, allowed }: Flag): string {
  return value ?? allowed?.join("|") ?? VALUES[type];
}

/** Defaults that need no mention. */
const NOTHING: readonly string[] = ["", "false", "0", "0s"];

/** Returns notes on a flag: repetition, default, environment variables. */
export function flagNotes(flag: Flag): string[] {
  const { name, env = [] } = flag;
  const fallback = defaultText(flag);
  return [
    ...repeatNotes(flag),
    // As in kubectl's help, a default that starts with "default" has quotes: (default "default").
    ...fallback === "" ? [] : [`default ${fallback.startsWith("default") ? `"${fallback}"` : fallback}`],
    ...name === undefined || env.length === 0 ? [] : [`env ${env.join(", ")}`],
  ];
}

/** Returns notes on how to repeat a flag. */
export function repeatNotes(flag: Flag): string[] {
  if (flag.type === "urls" || flag.type === "texts") return ["repeatable"];
  return isRepeatable(flag) ? ["comma-separated or repeated"] : [];
}

/** Returns the default of a flag as text for users; `""` if it needs no mention. */
export function defaultText({ default: text = "", defaultDoc }: Flag): string {
  return defaultDoc ?? (NOTHING.includes(text) ? "" : text);
}

/** Returns the usage line after the name of the command. */
export function usageText({ usage, positional, start, commands }: Command): string {
  if (usage !== undefined) return usage;
  const hasCommands = Object.keys(commands).length > 0;
  if (start === undefined && hasCommands) return "COMMAND [flags]";
  return [positional?.usage ?? "", "[flags]"].filter((part) => part !== "").join(" ");
}

/**
 * Returns the meanings of a command's exit codes in ascending order. Codes with the same meaning share a row, such as
 * `130, 143`.
 */
export function exitRows({ other, ...exits }: Exits): (readonly [codes: string, meaning: string])[] {
  const codes = new Map<string, number[]>();
  for (const [name, meaning] of Object.entries(exits)) {
    if (!isExitName(name)) continue;
    const text = meaning === true ? EXIT_MEANING[name] : meaning;
    codes.set(text, [...codes.get(text) ?? [], EXIT[name]]);
  }
  const rows = [...codes].toSorted(([, [a = 0]], [, [b = 0]]) => a - b);
  const known = rows.map(([text, numbers]) => [numbers.join(", "), text] as const);
  return other === undefined ? known : [...known, ["other", other]];
}

function isExitName(name: string): name is ExitName {
  return Object.hasOwn(EXIT, name);
}
