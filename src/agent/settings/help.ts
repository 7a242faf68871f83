/** The help text of `agent`, made from the tables of flags and variables. */
import { type Flag, FLAG_LIST, type FlagKind, ROLES } from "./flags.ts";
import { VARIABLE_LIST } from "./variables.ts";

const VALUE_NAMES: Readonly<Record<FlagKind, string>> = {
  text: " TEXT",
  bool: "",
  int: " NUMBER",
  port: " PORT",
  duration: " TIME",
};

/** What reads these settings. */
export type HelpSubject = "agent" | "bootstrap";

const DESCRIPTIONS: Readonly<Record<HelpSubject, string>> = {
  agent: "Run the proxy of a pod: write Envoy's bootstrap, start Envoy, answer health checks, drain.",
  bootstrap: "Print the bootstrap that the agent would give to Envoy. Nothing is written or started.",
};

/** What `program` does, its flags with their defaults, those of old releases, and its variables. */
export function agentHelpText(program: string, subject: HelpSubject): string {
  const flags = FLAG_LIST.map(([, flag]) => flag).filter(({ retired }) => retired === undefined);
  return [
    DESCRIPTIONS[subject],
    "",
    `Usage: ${program} [${ROLES.join("|")}] [FLAGS]`,
    "",
    "Flags:",
    ...columns(flags.filter(({ old }) => old === undefined).map(flagRow)),
    "",
    "Flags of Istio 1.0 to 1.5, where no PROXY_CONFIG is given:",
    ...columns(flags.filter(({ old }) => old !== undefined).map(flagRow)),
    "",
    "Variables (and ISTIO_META_*, ISTIO_METAJSON_* for the metadata of the proxy):",
    ...columns(VARIABLE_LIST.map(({ env, doc, fallback }) => [`  ${env}`, withDefault(doc, fallback)])),
    "",
  ].join("\n");
}

function flagRow({ long, kind, doc, fallback }: Flag): [string, string] {
  return [`  --${long}${VALUE_NAMES[kind]}`, withDefault(doc, fallback)];
}

/** Defaults that say no more than that nothing was given. */
const NOTHING: readonly string[] = ["", "false", "0", "0s"];

function withDefault(doc: string, fallback: string): string {
  return NOTHING.includes(fallback) ? doc : `${doc} (default ${fallback})`;
}

function columns(rows: readonly (readonly [string, string])[]): string[] {
  const width = Math.max(...rows.map(([name]) => name.length)) + 2;
  return rows.map(([name, doc]) => name.padEnd(width) + doc);
}
