import { configureSync, getJsonLinesFormatter, getLogger, getTextFormatter, isLogLevel } from "@logtape/logtape";
import type { Logger, LogLevel } from "@logtape/logtape";
import { ClosedPipeError, UsageError } from "./errors.ts";
import type { World } from "./world/world.ts";

export type { Logger };

/** How a command logs; `MESH_LOG_FORMAT` and `MESH_LOG_LEVEL` where a flag is not given. */
export interface LogOptions {
  readonly format?: string | undefined;
  readonly level?: string | undefined;
  /** Levels of parts of the room, by the names of its child loggers. */
  readonly scopes?: ReadonlyMap<string, string> | undefined;
}

/** Names that users of Istio's and Kubernetes' programs know, and what they are here. */
const LEVEL_ALIASES: Readonly<Record<string, string>> = { warn: "warning", none: "fatal" };

/**
 * Sends log records to this world's stderr, a line each: `2026-01-02T03:04:05Z info iptables: text` or a JSON object.
 * Returns the logger of a room. An unknown format or level is wrong usage.
 */
export function startLog(world: World, room: string, options: LogOptions = {}): Logger {
  const format = options.format ?? given(world, "MESH_LOG_FORMAT") ?? "text";
  const formatter = FORMATTERS[format];
  if (formatter === undefined) throw new UsageError(`Unknown log format "${format}": use text or json`);
  const write = formatter(world);
  configureSync({
    reset: true,
    sinks: { stderr: (record) => tell(world, write(record)) },
    loggers: [
      { category: ["logtape"], sinks: [], parentSinks: "override" },
      { category: [], sinks: ["stderr"], lowestLevel: levelOf(options.level ?? given(world, "MESH_LOG_LEVEL")) },
      ...[...options.scopes ?? []].map(([scope, level]) => ({ category: [room, scope], lowestLevel: levelOf(level) })),
    ],
  });
  return getLogger([room]);
}

/** A variable that is set to nothing is not given: templates of pods write such ones. */
function given(world: World, name: string): string | undefined {
  const text = world.env.get(name);
  return text === "" ? undefined : text;
}

type Formatter = ReturnType<typeof getTextFormatter>;

const FORMATTERS: Readonly<Record<string, (world: World) => Formatter>> = {
  text: (world) =>
    getTextFormatter({
      value: (value, inspect) => typeof value === "string" ? value : inspect(value),
      format: ({ level, category, message }) => `${timestamp(world)} ${level.toLowerCase()} ${category}: ${message}`,
      level: "full",
    }),
  json: () => getJsonLinesFormatter(),
};

function timestamp(world: World): string {
  return world.clock.now().toISOString();
}

function levelOf(text = "info"): LogLevel {
  const level = LEVEL_ALIASES[text] ?? text;
  if (isLogLevel(level)) return level;
  throw new UsageError(`Unknown log level "${text}": use debug, info, warning or error`);
}

/** A log line that nobody reads any more must not end the work. */
function tell(world: World, line: string): void {
  try {
    world.stderr.write(line);
  } catch (error) {
    if (!(error instanceof ClosedPipeError)) throw error;
  }
}

/** A text as a message of its own: braces in it (nft has them) are not places for values. */
export function logText(text: string): string {
  return text.replaceAll("{", "{{").replaceAll("}", "}}");
}
