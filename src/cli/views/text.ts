/** Records in words: what help, man pages and tables of flags share. */
import { type Flag, type FlagGroups, type FlagTable, isRepeatable } from "../../golang/flags/mod.ts";
import { EXIT, EXIT_MEANING, type ExitName } from "../../base/errors.ts";
import type { Command, Exits } from "../command.ts";

/** The flags that users are shown, by their titles; groups without one are left out. */
export function shownGroups(groups: FlagGroups): (readonly [title: string, flags: readonly Flag[]])[] {
  return Object.entries(groups).flatMap(([title, flags]) => {
    const shown = shownFlags(flags);
    return shown.length === 0 ? [] : [[title, shown] as const];
  });
}

/** The flags of a table that users are shown. */
export function shownFlags(flags: FlagTable): Flag[] {
  return Object.values(flags).filter(({ hidden, retired }) => hidden !== true && retired === undefined);
}

const VALUES: Readonly<Record<Flag["type"], string>> = {
  text: "TEXT",
  file: "FILE",
  address: "ADDRESS",
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

/** `-o, --output yaml|json`; the variable of a setting that has no flag. */
export function flagTitle(flag: Flag): string {
  if (flag.name === undefined) return flag.env?.join(", ") ?? "";
  const dashed = flag.short === undefined ? `--${flag.name}` : `-${flag.short}, --${flag.name}`;
  if (flag.implied !== undefined) return `${dashed}[=${flagValue(flag)}]`;
  return `${dashed} ${flagValue(flag)}`.trim();
}

/** What stands for the value of a flag; `""` for a boolean. */
export function flagValue({ type, value, allowed }: Flag): string {
  return value ?? allowed?.join("|") ?? VALUES[type];
}

/** Defaults that say no more than that nothing was given. */
const NOTHING: readonly string[] = ["", "false", "0", "0s"];

/** What else there is to say of a flag: how it is repeated, its default, its variables. */
export function flagNotes(flag: Flag): string[] {
  const { name, env = [] } = flag;
  const fallback = defaultText(flag);
  return [
    ...repeatNotes(flag),
    ...fallback === "" ? [] : [`default ${fallback}`],
    ...name === undefined || env.length === 0 ? [] : [`env ${env.join(", ")}`],
  ];
}

/** How a flag is given more than once. */
export function repeatNotes(flag: Flag): string[] {
  if (flag.type === "urls" || flag.type === "texts") return ["repeatable"];
  return isRepeatable(flag) ? ["comma-separated or repeated"] : [];
}

/** The default of a flag in words; `""` if there is nothing to say. */
export function defaultText({ default: text = "", defaultDoc }: Flag): string {
  return defaultDoc ?? (NOTHING.includes(text) ? "" : text);
}

/** What stands behind the name of a command. */
export function usageText({ usage, positional, start, commands }: Command): string {
  if (usage !== undefined) return usage;
  const hasCommands = Object.keys(commands).length > 0;
  if (start === undefined && hasCommands) return "COMMAND [flags]";
  return [positional?.usage ?? "", "[flags]"].filter((part) => part !== "").join(" ");
}

/** What the exit codes of a command mean, by ascending code; names with one text share a row: `130, 143`. */
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
