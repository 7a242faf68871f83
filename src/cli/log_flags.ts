import { flag, type FlagTable } from "../golang/flags/mod.ts";

/** Log flags of long-running commands. Separate from the other shared flags, so that `wait` starts faster. */
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
