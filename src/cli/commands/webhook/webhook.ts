import { commandGroup, rawCommand } from "../../command.ts";

/** `kubectl mesh webhook`. */
export const WEBHOOK = commandGroup({
  summary: "Inject pods when they are created",
  commands: {
    serve: async () => (await import("./serve.ts")).WEBHOOK_SERVE,
    manifests: async () => (await import("./manifests.ts")).WEBHOOK_MANIFESTS,
  },
  hiddenCommands: { worker: () => Promise.resolve(WORKER) },
});

/** What `webhook serve` starts by itself. */
const WORKER = rawCommand({
  summary: "Answer the reviews that webhook serve sends",
  run: async (world) => (await import("../../../webhook/mod.ts")).runWorker(world),
});
