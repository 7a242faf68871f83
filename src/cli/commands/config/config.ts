import { commandGroup } from "../../command.ts";

/** `kubectl mesh config`. */
export const CONFIG = commandGroup({
  summary: "Keep and compare what decides about injection",
  commands: {
    capture: async () => (await import("./capture.ts")).CONFIG_CAPTURE,
    diff: async () => (await import("./diff.ts")).CONFIG_DIFF,
  },
});
