/** Help texts, made from the table of flags. */
import { type Flag, FLAG_LIST } from "./flags.ts";

/** A subcommand of `kubectl mesh iptables`. */
export const MODES = ["generate", "apply", "clean", "verify"] as const;
export type Mode = typeof MODES[number];

const PURPOSES: Readonly<Record<Mode, string>> = {
  generate: "Print the rules that capture a pod's traffic. Nothing is touched, no privilege is needed.",
  apply: "Put the rules that capture a pod's traffic into the kernel of this network namespace: all or nothing.\n" +
    "Applied again, nothing changes; with other settings, exactly our own rules are replaced.",
  clean: "Take out everything of ours, whatever settings and release it was made with. No flag is needed.",
  verify: "Prove that inbound and outbound connections, and DNS if it is captured, reach the proxy's ports.\n" +
    "Nothing leaves the pod. Exit code 126 if a flow escapes.",
};

/** The text of `kubectl mesh iptables --help`. */
export function overviewText(program: string): string {
  const lines = MODES.map((mode) => `  ${mode.padEnd(10)}${PURPOSES[mode].split("\n")[0]}`);
  return `Capture the traffic of a pod.\n\nUsage: ${program} COMMAND [FLAGS]\n\nCommands:\n${lines.join("\n")}\n\n` +
    `"${program} COMMAND --help" lists the flags.\n`;
}

/** The text of `--help`: what the command does, its flags with variables and defaults, and what has a variable only. */
export function helpText(program: string, mode: Mode): string {
  const shown = FLAG_LIST.map(([, flag]) => flag).filter(({ hidden }) => hidden !== true);
  const flags = shown.filter(({ long }) => long !== "");
  const variables = shown.filter(({ long }) => long === "");
  return [
    PURPOSES[mode],
    "",
    `Usage: ${program} [FLAGS]`,
    "",
    "Flags (each may be given as the variable in brackets too):",
    ...columns(flags.map((flag) => [flagName(flag), flagDoc(flag)])),
    "",
    "Variables without a flag:",
    ...columns(variables.map((flag) => [`  ${flag.env?.join(", ") ?? ""}`, flagDoc({ ...flag, env: [] })])),
    "",
  ].join("\n");
}

function flagName({ short, long, kind }: Flag): string {
  const value = kind === "bool" ? "" : ` ${VALUE_NAMES[kind]}`;
  return `  ${short === undefined ? "    " : `-${short}, `}--${long}${value}`;
}

const VALUE_NAMES = { text: "TEXT", optionalText: "NUMBER", uint16: "PORT", duration: "TIME", bool: "" } as const;

function flagDoc({ doc, fallback, env = [] }: Flag): string {
  const variable = env.length === 0 ? "" : ` [${env.join(", ")}]`;
  return `${doc}${fallback === "" || fallback === "false" ? "" : ` (default ${fallback})`}${variable}`;
}

function columns(rows: readonly (readonly [string, string])[]): string[] {
  const width = Math.max(...rows.map(([name]) => name.length)) + 2;
  return rows.map(([name, doc]) => name.padEnd(width) + doc);
}
