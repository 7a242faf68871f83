import { flag, type FlagGroups, TIMER } from "../../../golang/flags/mod.ts";
import { command, type Exits, rawCommand } from "../../command.ts";

const ROLE = { usage: "[ROLE]", allowed: ["sidecar", "router", "waypoint", "ztunnel", "agentgateway"] } as const;

const flags = async () => (await import("../../../agent/mod.ts")).agentFlags();

const BOOTSTRAP = rawCommand({
  summary: "Print the bootstrap that the agent gives to Envoy",
  description: "Nothing is written or started. Flags and variables are the same as for kubectl mesh agent.",
  positional: ROLE,
  examples: [{ command: "kubectl mesh agent bootstrap" }],
  flags,
  run: async (world, args) => (await import("../../../agent/mod.ts")).runAgentBootstrap(world, args),
});

const REQUEST_FLAGS = {
  "Flags": {
    port: flag("--status-port PORT", "Port of the agent's status server", { type: "port", default: "15020" }),
    timeout: flag("--timeout TIME", "Timeout of the agent's answer", { ...TIMER, least: 1, default: "5s" }),
  },
} as const satisfies FlagGroups;

const NEVER_READY = "SIGINT or SIGTERM came before the proxy was ever ready";
const REQUEST_EXITS: Exits = { ok: "the agent agreed", failed: "the agent could not be asked", usage: true };

const QUIT = command({
  summary: "Ask the agent of this pod to end the proxy and itself",
  description: "For the end of a Job: the pod ends when its work is done.",
  examples: [{ command: "kubectl mesh agent quit" }],
  flags: REQUEST_FLAGS,
  exits: REQUEST_EXITS,
  run: async (world, { flags }) =>
    (await import("../../../agent/mod.ts")).messageAgent(world, { path: "quitquitquit", ...flags }),
});

const DRAIN = command({
  summary: "Ask the agent of this pod to drain the proxy",
  description: "The proxy goes on and asks its clients to leave. For the preStop hook of a native sidecar.",
  examples: [{ command: "kubectl mesh agent drain" }],
  flags: REQUEST_FLAGS,
  exits: REQUEST_EXITS,
  run: async (world, { flags }) =>
    (await import("../../../agent/mod.ts")).messageAgent(world, { path: "drain", ...flags }),
});

export const AGENT = rawCommand({
  summary: "Run the proxy of this pod",
  description:
    "Write Envoy's bootstrap, start Envoy, answer health checks, drain. The metadata of the proxy also comes " +
    "from the variables ISTIO_META_* and ISTIO_METAJSON_*.",
  positional: ROLE,
  examples: [
    { title: "A sidecar, as the environment says", command: "kubectl mesh agent" },
    { title: "A gateway", command: "kubectl mesh agent router --log-format json" },
  ],
  flags,
  commands: {
    bootstrap: () => Promise.resolve(BOOTSTRAP),
    quit: () => Promise.resolve(QUIT),
    drain: () => Promise.resolve(DRAIN),
  },
  exits: {
    ok: "the end was asked for",
    failed: true,
    usage: true,
    interrupted: NEVER_READY,
    terminated: NEVER_READY,
    other: "the exit code of Envoy where it ended by itself; 128 + signal",
  },
  run: async (world, args) =>
    (await import("./start_agent.ts")).startAgent(world, args, "agent", ({ exitCode }) => exitCode),
});
