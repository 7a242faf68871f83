import { flag, type FlagTable } from "../golang/flags/mod.ts";

/** The log flags of long-running commands. Separate from the other shared flags: `wait` starts faster without those. */
export const LOG = {
  logFormat: flag("--log-format text|json", "Format of the log on standard error", {
    env: ["MESH_LOG_FORMAT"],
    type: "text",
    defaultDoc: "text",
  }),
  logLevel: flag("--log-level LEVEL", "Minimum level of the log: debug, info, warning or error", {
    env: ["MESH_LOG_LEVEL"],
    allowed: ["debug", "info", "warning", "error"],
    defaultDoc: "info",
  }),
} as const satisfies FlagTable;
