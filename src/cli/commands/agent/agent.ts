import { flag, type FlagGroups, TIMER } from "../../../golang/flags/mod.ts";
import { command, rawCommand } from "../../command.ts";

const ROLE = { usage: "[ROLE]", allowed: ["sidecar", "router", "waypoint", "ztunnel", "agentgateway"] } as const;

const flags = async () => (await import("../../../agent/mod.ts")).agentFlags();

const BOOTSTRAP = rawCommand({
  summary: "Print the bootstrap that the agent gives to Envoy",
  description: "Writes and starts nothing. Flags and variables are the same as for kubectl mesh agent.",
  positional: ROLE,
  examples: [{ command: "kubectl mesh agent bootstrap" }],
  flags,
  run: async (world, args) => (await import("../../../agent/mod.ts")).runAgentBootstrap(world, args),
});

const REQUEST_FLAGS = {
  "Flags": {
    port: flag("--status-port PORT", "Port of the agent's status server", { type: "port", default: "15020" }),
    timeout: flag("--timeout TIME", "Timeout of the request", { ...TIMER, least: 1, default: "5s" }),
  },
} as const satisfies FlagGroups;

const NEVER_READY = "SIGINT or SIGTERM arrived before the proxy became ready";

function requestOf(path: "quitquitquit" | "drain", record: { summary: string; description: string; line: string }) {
  return command({
    ...record,
    examples: [{ command: record.line }],
    flags: REQUEST_FLAGS,
    exits: { ok: "the agent accepted the request", failed: "the request failed", usage: true },
    run: async (world, { flags }) => (await import("../../../agent/mod.ts")).messageAgent(world, { path, ...flags }),
  });
}

const QUIT = requestOf("quitquitquit", {
  summary: "Ask the agent of this pod to stop the proxy and exit",
  description: "For Jobs: the pod completes when its work is done.",
  line: "kubectl mesh agent quit",
});

const DRAIN = requestOf("drain", {
  summary: "Ask the agent of this pod to drain the proxy",
  description: "The proxy keeps running and asks its clients to disconnect. For the preStop hook of a native sidecar.",
  line: "kubectl mesh agent drain",
});

export const AGENT = rawCommand({
  summary: "Run the proxy of this pod",
  description: "Write Envoy's bootstrap, start Envoy, serve health checks, and drain. The variables ISTIO_META_* and " +
    "ISTIO_METAJSON_* add metadata to the proxy.",
  positional: ROLE,
  examples: [
    { title: "A sidecar, configured by environment variables", command: "kubectl mesh agent" },
    { title: "A gateway", command: "kubectl mesh agent router --log-format json" },
  ],
  flags,
  commands: {
    bootstrap: () => Promise.resolve(BOOTSTRAP),
    quit: () => Promise.resolve(QUIT),
    drain: () => Promise.resolve(DRAIN),
  },
  exits: {
    ok: "stopped on request",
    failed: true,
    usage: true,
    interrupted: NEVER_READY,
    terminated: NEVER_READY,
    other: "Envoy's own exit code; 128 + signal if a signal ended Envoy",
  },
  run: async (world, args) =>
    (await import("./start_agent.ts")).startAgent(world, args, "agent", ({ exitCode }) => exitCode),
});
