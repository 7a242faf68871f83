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

/** Matches Envoy's default log format (`--log-format`): time, thread, level, logger. */
const PLAIN = /^\[[^\]]*\]\[\d+\]\[(\w+)\]\[/;

/**
 * Returns a function that writes a line of Envoy's stderr as JSON. Envoy writes JSON after it has read its bootstrap,
 * and these lines pass unchanged. Earlier lines become JSON with their own level. A line without a level gets the level
 * of the previous line, initially error, because Envoy reports wrong arguments without a level.
 */
export function envoyLines(world: World, log: Logger): (line: string) => void {
  let level: Level = "error";
  return (line) => {
    if (line.startsWith("{") && parseJson(line) !== undefined) return pass(world, line);
    level = LEVELS.get(PLAIN.exec(line)?.[1] ?? "") ?? level;
    log[level](logText(line));
  };
}

/**
 * Writes a line. Ignores a closed stderr and a full disk: the agent must keep reading Envoy's output, or Envoy hangs.
 */
function pass(world: World, line: string): void {
  try {
    world.stderr.write(`${line}\n`);
  } catch {
    // The line is lost, because stderr is closed or the disk is full.
  }
}
