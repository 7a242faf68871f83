/** The log for messages before the settings are known, and for errors in the settings. */
import { parseBool } from "../golang/go_bool.ts";
import { logText, startLog } from "../platform/log.ts";
import type { World } from "../platform/world.ts";
import { type ProgramName, readCommandLine } from "./settings/command_line.ts";
import { logSettings } from "./settings/log_settings.ts";

/** Opens the early log. Never fails: an unknown format means text. */
export function earlyLog(world: World, args: readonly string[], name: ProgramName) {
  const { given } = readCommandLine(args, name);
  const { format = "text" } = logSettings({
    format: given.get("logFormat") ?? "",
    level: "",
    istioJson: parseBool(given.get("istioLogJson") ?? "") === true,
    istioLevels: "",
    environmentFormat: world.env.get("MESH_LOG_FORMAT") ?? "",
  }, []);
  const log = startLog(world, "agent", { format, level: "info" });
  return {
    isJson: format === "json",
    write: (level: "info" | "fatal", text: string): void => log[level](logText(text)),
  };
}
