import { UsageError } from "../../core/errors.ts";
import type { World } from "../../core/world/world.ts";
import type { Shutdown, WaitOptions } from "../../wait/mod.ts";
import { choiceValue, durationValue, numberValue, urlValue } from "../flag_values.ts";
import { type Flag, readFlags, type Reading } from "../flags.ts";
import { helpText } from "../help.ts";

const PROGRAM = "kubectl mesh wait";

const WAIT_FLAGS: readonly Flag[] = [
  { name: "timeout", value: "duration", help: "how long to wait; 0 asks once (default 1m0s)" },
  { name: "period", value: "duration", help: "longest pause between two questions (default 100ms)" },
  { name: "request-timeout", value: "duration", help: "how long one question may take (default 500ms)" },
  {
    name: "url",
    value: "url",
    help: "what to ask; repeatable: all must be ready (default http://localhost:15021/healthz/ready)",
  },
  {
    name: "on-timeout",
    value: "fail|continue",
    help: "when time is up: exit with 1, or go on without the proxy (default fail)",
  },
];

const COMMAND_FLAGS: readonly Flag[] = [
  { name: "shutdown", help: "run COMMAND as a child, and tell the proxy to quit when it has ended" },
  { name: "quit-url", value: "url", help: "where to (default http://localhost:15020/quitquitquit)" },
  {
    name: "quit-on",
    value: "always|success",
    help: "success: only if COMMAND ended with 0, for Jobs that start it again (default always)",
  },
];

const LOG_FLAGS: readonly Flag[] = [
  { name: "quiet", short: "q", help: "say nothing but errors" },
  { name: "log-format", value: "text|json", help: "form of what is said on standard error (MESH_LOG_FORMAT)" },
  { name: "log-level", value: "level", help: "debug, info, warning or error (MESH_LOG_LEVEL)" },
];

/** pilot-agent's spellings. */
const NUMBER_FLAGS: readonly Flag[] = [
  { name: "timeoutSeconds", value: "seconds" },
  { name: "periodMillis", value: "milliseconds" },
  { name: "requestTimeoutMillis", value: "milliseconds" },
];

/** `kubectl mesh wait [flags] [-- COMMAND ARGS]`. */
export async function waitCommand(world: World, args: readonly string[]): Promise<number> {
  const flags = readFlags([...WAIT_FLAGS, ...COMMAND_FLAGS, ...LOG_FLAGS, ...NUMBER_FLAGS], args, PROGRAM, {
    takesWords: false,
  });
  if (flags.isOn("help")) {
    world.stdout.write(waitHelp());
    return 0;
  }
  const room = await import("../../wait/mod.ts");
  const options = waitOptions(flags, room.DEFAULTS);
  const reporter = await room.logReporter(world, {
    format: flags.text("log-format"),
    level: flags.text("log-level"),
    quiet: flags.isOn("quiet"),
  });
  return await room.runWait(world, options, reporter);
}

/** The defaults of the room, whose types are those of the options. */
type Defaults = { readonly url: string; readonly quitUrl: string } & Limits;
type Limits = Pick<WaitOptions, "timeout" | "period" | "requestTimeout">;

function waitOptions(flags: Reading, defaults: Defaults): WaitOptions {
  const command = flags.rest ?? [];
  const [word] = flags.words;
  if (word !== undefined) {
    throw new UsageError(`Unexpected argument "${word}"`, { hint: 'a command to run stands behind "--"' });
  }
  return {
    urls: urls(flags, defaults.url),
    ...limits(flags, defaults),
    onTimeout: choiceValue("on-timeout", flags.text("on-timeout") ?? "fail", ["fail", "continue"]),
    command,
    shutdown: shutdown(flags, defaults.quitUrl, command),
  };
}

function urls(flags: Reading, fallback: string): string[] {
  const given = flags.all("url");
  return [...new Set(given.length === 0 ? [fallback] : given)].map((url) => urlValue("url", url));
}

/** Two spellings of a time, of which the first counts if both are given. */
interface Time {
  readonly flag: string;
  readonly old: string;
  /** Milliseconds in the unit of the old one. */
  readonly unit: number;
  readonly least: number;
}

const TIMES: Readonly<Record<keyof Limits, Time>> = {
  timeout: { flag: "timeout", old: "timeoutSeconds", unit: 1000, least: 0 },
  period: { flag: "period", old: "periodMillis", unit: 1, least: 1 },
  requestTimeout: { flag: "request-timeout", old: "requestTimeoutMillis", unit: 1, least: 1 },
};

function limits(flags: Reading, defaults: Limits): Limits {
  const time = (name: keyof Limits) => milliseconds(flags, TIMES[name]) ?? defaults[name];
  return { timeout: time("timeout"), period: time("period"), requestTimeout: time("requestTimeout") };
}

function milliseconds(flags: Reading, { flag, old, unit, least }: Time): number | undefined {
  const [text, number] = [flags.text(flag), flags.text(old)];
  if (text !== undefined) return durationValue(flag, text, least);
  return number === undefined ? undefined : numberValue(old, number, { least, most: LONGEST_OLD / unit }) * unit;
}

/** 24 days: as far as timers go, and a round number of seconds. */
const LONGEST_OLD = 24 * 24 * 3600 * 1000;

function shutdown(flags: Reading, fallback: string, command: readonly string[]): Shutdown | undefined {
  if (!flags.isOn("shutdown")) return undefined;
  if (command.length === 0) {
    throw new UsageError("The flag --shutdown needs a command", { hint: 'it stands behind "--"' });
  }
  return {
    url: urlValue("quit-url", flags.text("quit-url") ?? fallback),
    when: choiceValue("quit-on", flags.text("quit-on") ?? "always", ["always", "success"]),
  };
}

function waitHelp(): string {
  return helpText({
    usage: `${PROGRAM} [flags] [-- COMMAND ARGS]`,
    description:
      "Block until the proxy of this pod is ready, then become COMMAND: the same process, with its exit code, " +
      "signals and terminal. Nothing is said if the proxy is ready at once. On a time-out it says how far the proxy " +
      "came. A URL is ready when its final status, after redirects, is 200.",
    flags: { "Options:": WAIT_FLAGS, "What runs then:": COMMAND_FLAGS, "What is said:": LOG_FLAGS },
    after: HELP_AFTER,
  });
}

const HELP_AFTER = `
Exit codes:
  that of COMMAND (128 + signal if one ended it with --shutdown), else
  0 ready, 1 time is up, 2 the command line is wrong, 126 COMMAND cannot be
  executed, 127 there is no such COMMAND, 143 SIGTERM while waiting

MESH_WAIT_DISABLED=REASON turns waiting off: COMMAND starts at once.

Examples:
  kubectl mesh wait -- /app/server --port 8080
  kubectl mesh wait --timeout 2m --on-timeout continue -- /app/server

  # a Job: the proxy ends when the work is done
  kubectl mesh wait --shutdown -- ./migrate.sh
`;
