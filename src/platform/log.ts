import { configureSync, getJsonLinesFormatter, getLogger, getTextFormatter, isLogLevel } from "@logtape/logtape";
import type { Logger, LogLevel } from "@logtape/logtape";
import { UsageError } from "../base/errors.ts";
import type { World } from "./world.ts";

export type { Logger };

/** Log options of a command. The defaults come from `MESH_LOG_FORMAT` and `MESH_LOG_LEVEL`. */
export interface LogOptions {
  readonly format?: string | undefined;
  readonly level?: string | undefined;
  /** Levels of child loggers, by name. */
  readonly scopes?: ReadonlyMap<string, string> | undefined;
}

/** Level names of Istio and Kubernetes, with the matching level of this program. */
const LEVEL_ALIASES: Readonly<Record<string, string>> = { warn: "warning", none: "fatal" };

/**
 * Starts the log on this world's stderr, with one line per record: `2026-01-02T03:04:05Z info iptables: text` or a JSON
 * object. Returns the logger of a command. Throws a UsageError for an unknown format or level.
 */
export function startLog(world: World, command: string, options: LogOptions = {}): Logger {
  const format = options.format ?? given(world, "MESH_LOG_FORMAT") ?? "text";
  const formatter = Object.hasOwn(FORMATTERS, format) ? FORMATTERS[format] : undefined;
  if (formatter === undefined) throw new UsageError(`Unknown log format "${format}": use text or json`);
  const write = formatter(world);
  configureSync({
    reset: true,
    sinks: { stderr: (record) => writeLine(world, write(record)) },
    loggers: [
      { category: ["logtape"], sinks: [], parentSinks: "override" },
      { category: [], sinks: ["stderr"], lowestLevel: levelOf(options.level ?? given(world, "MESH_LOG_LEVEL")) },
      ...[...options.scopes ?? []].map(([scope, level]) => ({
        category: [command, scope],
        lowestLevel: levelOf(level),
      })),
    ],
  });
  return getLogger([command]);
}

/** Returns a variable. Treats an empty variable as unset, because pod templates set empty variables. */
function given(world: World, name: string): string | undefined {
  const text = world.env.get(name);
  return text === "" ? undefined : text;
}

type Formatter = ReturnType<typeof getTextFormatter>;

const FORMATTERS: Readonly<Record<string, (world: World) => Formatter>> = {
  text: (world) =>
    getTextFormatter({
      value: (value, inspect) => typeof value === "string" ? value : inspect(value),
      format: ({ level, category, message }) =>
        `${world.clock.now().toISOString()} ${level.toLowerCase()} ${category}: ${message}`,
      level: "full",
    }),
  json: () => getJsonLinesFormatter(),
};

function levelOf(text = "info"): LogLevel {
  const level = LEVEL_ALIASES[text] ?? text;
  if (isLogLevel(level)) return level;
  throw new UsageError(`Unknown log level "${text}": use debug, info, warning or error`);
}

/** Writes a log line. Ignores errors, because a closed stderr or a full disk must not end the command. */
function writeLine(world: World, line: string): void {
  try {
    world.stderr.write(line);
  } catch {
    // The line is lost.
  }
}

/** Escapes braces in a text (such as nft rules), so that the logger does not treat them as placeholders. */
export function logText(text: string): string {
  return text.replaceAll("{", "{{").replaceAll("}", "}}");
}
