import { commandGroup } from "../../command.ts";

/** `kubectl mesh config`. */
export const CONFIG = commandGroup({
  summary: "Keep and compare what decides about injection",
  commands: {
    snapshot: async () => (await import("./snapshot.ts")).CONFIG_SNAPSHOT,
    diff: async () => (await import("./diff.ts")).CONFIG_DIFF,
  },
});
