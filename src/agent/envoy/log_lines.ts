/** Converts Envoy's stderr to JSON log lines. */
import { parseJson } from "../../base/json.ts";
import { type Logger, logText } from "../../platform/log.ts";
import type { World } from "../../platform/world.ts";

type Level = "debug" | "info" | "warning" | "error" | "fatal";

const LEVELS: ReadonlyMap<string, Level> = new Map([
  ["trace", "debug"],
  ["debug", "debug"],
  ["info", "info"],
  ["warning", "warning"],
  ["error", "error"],
  ["critical", "fatal"],
]);

/** Envoy's default format (`--log-format`): time, thread, level, logger. */
const PLAIN = /^\[[^\]]*\]\[\d+\]\[(\w+)\]\[/;

/**
 * JSON lines, which Envoy writes after reading its bootstrap, pass unchanged; earlier lines become JSON with their own
 * level. A line without a level has the level of the line before, at first error: so Envoy reports wrong arguments.
 */
export function envoyLines(world: World, log: Logger): (line: string) => void {
  let level: Level = "error";
  return (line) => {
    if (line.startsWith("{") && parseJson(line) !== undefined) return pass(world, line);
    level = LEVELS.get(PLAIN.exec(line)?.[1] ?? "") ?? level;
    log[level](logText(line));
  };
}

/** A closed stderr or a full disk must not stop the reading: Envoy hangs if nobody reads its output. */
function pass(world: World, line: string): void {
  try {
    world.stderr.write(`${line}\n`);
  } catch {
    // The line is lost.
  }
}
