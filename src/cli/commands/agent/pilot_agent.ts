/** The commands, flags and exit codes of Istio's pilot-agent, so that containers from Istio's templates run. */
import { errorLine, EXIT, MeshError, UsageError } from "../../../base/errors.ts";
import { flag, type FlagGroups, flagsWith } from "../../../golang/flags/mod.ts";
import type { World } from "../../../platform/world.ts";
import { VERSION } from "../../../version.ts";
import { command, commandGroup, type Exits, type Input, rawCommand } from "../../command.ts";
import { reportFailure, say } from "../../failure.ts";
import { AGENT } from "./agent.ts";
import { ISTIO_CLEAN_IPTABLES, ISTIO_IPTABLES } from "../iptables.ts";
import type { PilotAgentVersion } from "./pilot_agent_schema.ts";

const EXITS: Exits = { ok: true, pilotAgentFailed: true };

/** Istio's log flags, which every command accepts. Only the first one has an effect. */
const LOG = {
  logAsJson: flag("--log_as_json", "Write the log as JSON"),
  ...flagsWith({
    logOutputLevel: flag("--log_output_level TEXT", "Log levels"),
    logTarget: flag("--log_target TEXT", "Log destinations"),
    logCaller: flag("--log_caller TEXT", "Log scopes that include the caller"),
    logStack: flag("--log_stacktrace_level TEXT", "Log levels with a stack trace"),
    logRotate: flag("--log_rotate TEXT", "Log file to rotate"),
    logRotateAge: flag("--log_rotate_max_age TEXT", "Maximum age of log files"),
    logRotateBackups: flag("--log_rotate_max_backups TEXT", "Maximum number of log files"),
    logRotateSize: flag("--log_rotate_max_size TEXT", "Maximum size of log files"),
    vklog: flag("--vklog TEXT", "Log level of the Kubernetes client"),
  }, { retired: "" }),
} as const;

/** Maximum duration of a timer, in seconds. */
const LONGEST = 2_000_000;

const WAIT_FLAGS = {
  "Flags": {
    timeoutSeconds: flag("--timeoutSeconds SECONDS", "Maximum time to wait; 0 means a single request", {
      type: "integer",
      most: LONGEST,
      default: "60",
    }),
    periodMillis: flag("--periodMillis MILLISECONDS", "Maximum interval between two requests", {
      type: "integer",
      least: 1,
      most: LONGEST,
      default: "500",
    }),
    requestTimeoutMillis: flag("--requestTimeoutMillis MILLISECONDS", "Timeout of one request", {
      type: "integer",
      least: 1,
      most: LONGEST,
      default: "500",
    }),
    url: flag("--url URL", "URL to request", { type: "url", default: "http://localhost:15021/healthz/ready" }),
  },
  "Log": LOG,
} as const satisfies FlagGroups;

/** `pilot-agent wait`. Ignores arguments, as Istio's program does. */
const WAIT = command({
  summary: "Wait until Envoy is ready",
  usage: "[flags]",
  positional: { usage: "" },
  flags: WAIT_FLAGS,
  exits: EXITS,
  run: wait,
});

async function wait(world: World, { flags }: Input<typeof WAIT_FLAGS>): Promise<number> {
  const { url, timeoutSeconds, periodMillis: period, requestTimeoutMillis: requestTimeout } = flags;
  const { pilotAgentReporter, runWait } = await import("../../../wait/mod.ts");
  const reporter = pilotAgentReporter(world, { json: flags.logAsJson });
  const options = { urls: [url], timeout: timeoutSeconds * 1000, period, requestTimeout };
  return await runWait(world, { ...options, onTimeout: "fail", command: [] }, reporter);
}

const REQUEST_FLAGS = {
  "Flags": { debugPort: flag("--debug-port 15000|15004|15020|15021", "Port to request", { default: "15000" }) },
  "Log": LOG,
} as const satisfies FlagGroups;

const REQUEST = command({
  summary: "Send a request to Envoy's admin interface or to the agent",
  description: "Prints the response.",
  positional: { usage: "METHOD PATH [BODY]" },
  examples: [{ command: "pilot-agent request GET stats" }],
  flags: REQUEST_FLAGS,
  exits: EXITS,
  run: request,
});

async function request(world: World, { flags, args }: Input<typeof REQUEST_FLAGS>): Promise<number> {
  const [method, path, ...body] = args;
  if (method === undefined || path === undefined) {
    throw new UsageError("A method and a path are required", { hint: 'such as "pilot-agent request GET stats"' });
  }
  const { runRequest } = await import("../../../agent/mod.ts");
  return await runRequest(world, { method, path, body: body.join(" "), port: Number(flags.debugPort) });
}

const VERSION_FLAGS = {
  "Flags": {
    short: flag("-s, --short", "Print only the version number"),
    output: flag("-o, --output json|yaml", "Print the version as data"),
  },
  "Log": LOG,
} as const satisfies FlagGroups;

const VERSION_COMMAND = command({
  summary: "Print the version",
  usage: "[flags]",
  positional: { usage: "" },
  flags: VERSION_FLAGS,
  exits: EXITS,
  run: (world, { flags }) => {
    world.stdout.write(`${versionText(flags)}\n`);
    return Promise.resolve(EXIT.ok);
  },
});

/** Istio's build fields. This program is not written in Go, and its builds have no number. */
const BUILD: PilotAgentVersion["clientVersion"] = {
  golang_version: "",
  revision: "unknown",
  status: "unknown",
  tag: VERSION,
  version: VERSION,
};

function versionText({ output, short }: Input<typeof VERSION_FLAGS>["flags"]): string {
  if (output !== undefined) return VIEWS[output]();
  if (short) return `client version: ${VERSION}`;
  return `client version: version.BuildInfo{Version:"${VERSION}", GitRevision:"unknown", GolangVersion:"", ` +
    `BuildStatus:"unknown", GitTag:"${VERSION}"}`;
}

const VIEWS = {
  json: () => JSON.stringify({ clientVersion: BUILD } satisfies PilotAgentVersion, null, 2),
  yaml: () =>
    ["clientVersion:", ...Object.entries(BUILD).map(([key, value]) => `  ${key}: ${value === "" ? '""' : value}`)]
      .join("\n"),
};

const PROXY = rawCommand({
  summary: "Run Envoy as the first process of the proxy's container",
  ...AGENT.positional === undefined ? {} : { positional: AGENT.positional },
  flags: AGENT.flags,
  exits: EXITS,
  run: async (world, args) =>
    (await import("./start_agent.ts")).startAgent(world, args, "pilot-agent", () => EXIT.pilotAgentFailed),
});

/**
 * `pilot-agent`. Prints a failure as a line `Error: ` (as JSON with --log_as_json) and exits with 255. The iptables
 * command reports its own errors.
 */
export const PILOT_AGENT = commandGroup({
  program: "pilot-agent",
  summary: "Run the commands of Istio's pilot-agent",
  description: "Flags, environment variables and exit codes are the same as in Istio's pilot-agent.",
  showsHelp: true,
  commands: {
    "proxy": () => Promise.resolve(PROXY),
    "wait": () => Promise.resolve(WAIT),
    "request": () => Promise.resolve(REQUEST),
    "version": () => Promise.resolve(VERSION_COMMAND),
    "istio-iptables": () => Promise.resolve(ISTIO_IPTABLES),
    "istio-clean-iptables": () => Promise.resolve(ISTIO_CLEAN_IPTABLES),
  },
  failure: (world, error, args) => {
    if (!(error instanceof MeshError)) return reportFailure(world, error);
    const text = errorLine(error);
    say(world, isLogJson(args) ? jsonLine(world, text) : `Error: ${text}`);
    return EXIT.pilotAgentFailed;
  },
});

/**
 * Whether the log is JSON. Searches the arguments without parsing, because the flag also applies if other arguments are
 * invalid.
 */
function isLogJson(args: readonly string[]): boolean {
  return args.some((word) => word === "--log_as_json" || word === "--log_as_json=true");
}

/** Formats an error as a JSON line of Istio's log. */
function jsonLine(world: World, msg: string): string {
  return JSON.stringify({ level: "error", time: world.clock.now().toISOString(), msg });
}
