import { EXIT, UsageError } from "../../core/errors.ts";
import { closest } from "../../core/closest.ts";
import type { World } from "../../core/world/world.ts";
import { durationValue, portValue } from "../flag_values.ts";
import { type Flag, readFlags } from "../flags.ts";
import { helpText } from "../help.ts";
import { startAgent } from "./start_agent.ts";

const PROGRAM = "kubectl mesh agent";

/** What an agent that runs in this pod can be told. */
const MESSAGES = {
  quit: {
    path: "quitquitquit",
    line: "tell the proxy of this pod to quit",
    description:
      "Tell the agent that runs in this pod to end the proxy and itself, as a Job does when its work is done.",
  },
  drain: {
    path: "drain",
    line: "tell the proxy of this pod to drain",
    description:
      "Tell the agent that runs in this pod to let the proxy drain: it goes on, and lets its clients go. As the " +
      "preStop hook of a native sidecar.",
  },
} as const;

type Message = keyof typeof MESSAGES;

const TELL_FLAGS: readonly Flag[] = [
  { name: "status-port", value: "port", help: "port of the agent's status server (default 15020)" },
  { name: "timeout", value: "duration", help: "how long the agent may take to answer (default 5s)" },
];

/** `kubectl mesh agent quit|drain`. */
async function tellCommand(world: World, message: Message, args: readonly string[]): Promise<number> {
  const flags = readFlags(TELL_FLAGS, args, `${PROGRAM} ${message}`);
  const { path, description } = MESSAGES[message];
  if (flags.isOn("help")) {
    const usage = `${PROGRAM} ${message} [flags]`;
    world.stdout.write(helpText({ usage, description, flags: { "Options:": TELL_FLAGS } }));
    return EXIT.ok;
  }
  const [word] = [...flags.words, ...flags.rest ?? []];
  if (word !== undefined) {
    throw new UsageError(`Unexpected argument "${word}"`, { hint: `see "${PROGRAM} ${message} --help"` });
  }
  const { tellAgent } = await import("../../agent/mod.ts");
  return await tellAgent(world, {
    path,
    port: portValue("status-port", flags.text("status-port") ?? "15020"),
    timeout: durationValue("timeout", flags.text("timeout") ?? "5s", 1),
  });
}

/** `kubectl mesh agent [COMMAND] ARGS`: without a command it is the agent itself, which reads its own flags. */
export async function agentCommand(world: World, args: readonly string[]): Promise<number> {
  const [first = "", ...rest] = args;
  if (first === "quit" || first === "drain") return await tellCommand(world, first, rest);
  const meant = first.startsWith("-") ? undefined : closest(first, [...Object.keys(MESSAGES), "bootstrap"]);
  if (meant !== undefined && meant !== first) {
    throw new UsageError(`Unknown command "agent ${first}"`, { hint: `did you mean "${meant}"?` });
  }
  const isRun = first !== "bootstrap" && !asksForHelp(args);
  if (isRun) return await startAgent(world, args, "agent", ({ exitCode }) => exitCode);
  const room = await import("../../agent/mod.ts");
  if (asksForHelp(args)) {
    const isBootstrap = first === "bootstrap";
    if (isBootstrap) world.stdout.write(await room.agentHelp(`${PROGRAM} bootstrap`, "bootstrap"));
    else world.stdout.write(await room.agentHelp(PROGRAM) + commandList());
    return EXIT.ok;
  }
  return await room.runAgentBootstrap(world, rest);
}

/** What `agent` has besides the agent itself. */
function commandList(): string {
  const told = Object.entries(MESSAGES).map(([name, { line }]) => [name, line]);
  const rows = [["bootstrap", "print the bootstrap that the agent would give to Envoy"], ...told];
  return ["\nCommands:", ...rows.map(([name = "", line = ""]) => `  ${name.padEnd(11)}${line}`), ""].join("\n");
}

/** Whether `--help` is among the words of a command that reads its own flags. */
export function asksForHelp(args: readonly string[]): boolean {
  return args.includes("--help") || args.includes("-h");
}
