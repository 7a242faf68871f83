/** Envoy's standard error as lines of a log that is JSON. */
import { ClosedPipeError } from "../../core/errors.ts";
import { type Logger, logText } from "../../core/log.ts";
import type { World } from "../../core/world/world.ts";

type Level = "debug" | "info" | "warning" | "error" | "fatal";

/** Envoy's levels, and those of the log. */
const LEVELS: ReadonlyMap<string, Level> = new Map([
  ["trace", "debug"],
  ["debug", "debug"],
  ["info", "info"],
  ["warning", "warning"],
  ["error", "error"],
  ["critical", "fatal"],
]);

/** Envoy's own form (`--log-format`, by default): time, thread, level, logger. */
const PLAIN = /^\[[^\]]*\]\[\d+\]\[(\w+)\]\[/;

/**
 * Takes the lines one after another. Envoy writes JSON once it has read its bootstrap, which is passed on; what it says
 * before becomes JSON here, at its own level. A line without a level goes with the one before, and is an error at first:
 * so Envoy says that it does not take its arguments.
 */
export function envoyLines(world: World, log: Logger): (line: string) => void {
  let level: Level = "error";
  return (line) => {
    if (isJsonObject(line)) return pass(world, line);
    level = LEVELS.get(PLAIN.exec(line)?.[1] ?? "") ?? level;
    log[level](logText(line));
  };
}

function isJsonObject(line: string): boolean {
  if (!line.startsWith("{")) return false;
  try {
    JSON.parse(line);
    return true;
  } catch {
    return false;
  }
}

/** A log line that nobody reads any more must not end the work. */
function pass(world: World, line: string): void {
  try {
    world.stderr.write(`${line}\n`);
  } catch (error) {
    if (!(error instanceof ClosedPipeError)) throw error;
  }
}
