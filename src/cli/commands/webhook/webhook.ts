import { commandGroup } from "../../command.ts";

/** `kubectl mesh webhook`. */
export const WEBHOOK = commandGroup({
  summary: "Inject pods when they are created",
  commands: {
    serve: async () => (await import("./serve.ts")).WEBHOOK_SERVE,
    manifests: async () => (await import("./manifests.ts")).WEBHOOK_MANIFESTS,
  },
});
