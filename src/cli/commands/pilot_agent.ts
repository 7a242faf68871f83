/** The names of pilot-agent: its commands, flags and exit codes, so that containers of Istio's templates run. */
import { errorLine, EXIT, MeshError, UsageError } from "../../core/errors.ts";
import { closest } from "../../core/closest.ts";
import type { World } from "../../core/world/world.ts";
import { VERSION } from "../../version.ts";
import { say } from "../failure.ts";
import { choiceValue, numberValue, urlValue } from "../flag_values.ts";
import { type Flag, readFlags, type Reading } from "../flags.ts";
import { helpText } from "../help.ts";
import { asksForHelp } from "./agent.ts";
import type { PilotAgentVersion } from "./pilot_agent_schema.ts";
import { startAgent } from "./start_agent.ts";

const PROGRAM = "pilot-agent";

/** What any failure of pilot-agent exits with: Go's os.Exit(-1). */
const FAILED = 255;

/** Flags of Istio's log, which every command takes. Only the first has an effect on these commands. */
const LOG_FLAGS: readonly Flag[] = [
  { name: "log_as_json", help: "write the log as JSON" },
  { name: "log_output_level", value: "scope:level,..." },
  { name: "log_target", value: "file" },
  { name: "log_caller", value: "scopes" },
  { name: "log_stacktrace_level", value: "scope:level,..." },
  { name: "log_rotate", value: "file" },
  { name: "log_rotate_max_age", value: "days" },
  { name: "log_rotate_max_backups", value: "number" },
  { name: "log_rotate_max_size", value: "megabytes" },
  { name: "vklog", value: "level" },
];

type Run = (world: World, args: readonly string[]) => Promise<number>;

/** Commands that are run here. */
const RUNS: Readonly<Record<string, Run>> = { proxy, wait, request, version };

/** All commands, for the help and for suggestions. */
const COMMANDS: readonly (readonly [name: string, line: string])[] = [
  ["proxy", "run Envoy, as the first process of the proxy's container"],
  ["wait", "wait until Envoy is ready"],
  ["request", "send a request to Envoy's admin interface or to the agent"],
  ["version", "print the version"],
  ["istio-iptables", "capture the traffic of this pod"],
  ["istio-clean-iptables", "take the capture out"],
];

/** `pilot-agent ARGS`. Every failure is an `Error: ` line, or one of JSON with --log_as_json, and the code 255. */
export async function runPilotAgent(world: World, args: readonly string[]): Promise<number> {
  try {
    return await dispatch(world, args);
  } catch (error) {
    if (!(error instanceof MeshError)) throw error;
    const text = errorLine(error);
    say(world, isLogJson(args) ? jsonLine(world, text) : `Error: ${text}\n`);
    return FAILED;
  }
}

/** The flag is looked for by itself: it counts as well for a command line that is wrong. */
function isLogJson(args: readonly string[]): boolean {
  return args.some((word) => word === "--log_as_json" || word === "--log_as_json=true");
}

/** An error as a line of Istio's log. */
function jsonLine(world: World, msg: string): string {
  return `${JSON.stringify({ level: "error", time: world.clock.now().toISOString(), msg })}\n`;
}

async function dispatch(world: World, args: readonly string[]): Promise<number> {
  const [name = "", ...words] = commandFirst(args[0] === "help" ? [...args.slice(1), "--help"] : args);
  if (["", "--help", "-h"].includes(name)) {
    world.stdout.write(helpText({ usage: `${PROGRAM} COMMAND [flags]`, description: DESCRIPTION, commands: COMMANDS }));
    return EXIT.ok;
  }
  const run = Object.hasOwn(RUNS, name) ? RUNS[name] : undefined;
  if (run !== undefined) return await run(world, words);
  const meant = closest(name, COMMANDS.map(([each]) => each));
  throw new UsageError(`Unknown command "${PROGRAM} ${name}"`, {
    hint: meant === undefined ? `see "${PROGRAM} --help"` : `did you mean "${meant}"?`,
  });
}

/** Flags of the log may stand before the command. */
function commandFirst(args: readonly string[]): readonly string[] {
  if (args[0]?.startsWith("-") !== true) return args;
  const at = args.findIndex((word) => Object.hasOwn(RUNS, word));
  return at < 0 ? args : [...args.slice(at, at + 1), ...args.slice(0, at), ...args.slice(at + 1)];
}

const DESCRIPTION = "The commands of Istio's pilot-agent, with its flags, environment and exit codes.";

interface Page {
  readonly name: string;
  readonly words: string;
  readonly description: string;
  readonly flags: readonly Flag[];
}

/** Reads the flags of a command; `undefined` if its help was asked for, and is printed. */
function read(world: World, args: readonly string[], { name, words, description, flags }: Page): Reading | undefined {
  const program = `${PROGRAM} ${name}`;
  const reading = readFlags([...flags, ...LOG_FLAGS], args, program);
  if (!reading.isOn("help")) return reading;
  const shown = { "Options:": flags, "Log:": LOG_FLAGS };
  world.stdout.write(helpText({ usage: `${program} ${words}[flags]`, description, flags: shown }));
  return undefined;
}

/** The proxy reads its own flags. */
async function proxy(world: World, args: readonly string[]): Promise<number> {
  if (!asksForHelp(args)) return await startAgent(world, args, "pilot-agent", () => FAILED);
  const room = await import("../../agent/mod.ts");
  world.stdout.write(await room.agentHelp(`${PROGRAM} proxy`));
  return EXIT.ok;
}

const WAIT: Page = {
  name: "wait",
  words: "",
  description: "Wait until Envoy is ready.",
  flags: [
    { name: "timeoutSeconds", value: "seconds", help: "how long to wait; 0 asks once (default 60)" },
    { name: "periodMillis", value: "milliseconds", help: "longest pause between two questions (default 500)" },
    { name: "requestTimeoutMillis", value: "milliseconds", help: "how long one question may take (default 500)" },
    { name: "url", value: "url", help: "what to ask (default http://localhost:15021/healthz/ready)" },
  ],
};

/** Arguments are not looked at, as pilot-agent has it. */
async function wait(world: World, args: readonly string[]): Promise<number> {
  const reading = read(world, args, WAIT);
  if (reading === undefined) return EXIT.ok;
  const number = (name: string, fallback: string, least: number) =>
    numberValue(name, reading.text(name) ?? fallback, { least, most: LONGEST });
  const timeout = number("timeoutSeconds", "60", 0) * 1000;
  const period = number("periodMillis", "500", 1);
  const requestTimeout = number("requestTimeoutMillis", "500", 1);
  const room = await import("../../wait/mod.ts");
  const urls = [urlValue("url", reading.text("url") ?? room.DEFAULTS.url)];
  const reporter = room.pilotAgentReporter(world, { json: reading.isOn("log_as_json") });
  return await room.runWait(world, { urls, timeout, period, requestTimeout, onTimeout: "fail", command: [] }, reporter);
}

/** Seconds, and milliseconds, that a timer can take. */
const LONGEST = 2_000_000;

const REQUEST: Page = {
  name: "request",
  words: "METHOD PATH [BODY] ",
  description: "Send a request to Envoy's admin interface, or to the agent, and print the answer.",
  flags: [{ name: "debug-port", value: "port", help: "15000, 15004, 15020 or 15021 (default 15000)" }],
};

async function request(world: World, args: readonly string[]): Promise<number> {
  const reading = read(world, args, REQUEST);
  if (reading === undefined) return EXIT.ok;
  const [method, path, ...body] = [...reading.words, ...reading.rest ?? []];
  if (method === undefined || path === undefined) {
    throw new UsageError("A method and a path are needed", { hint: `such as "${PROGRAM} request GET stats"` });
  }
  const port = choiceValue("debug-port", reading.text("debug-port") ?? "15000", ["15000", "15004", "15020", "15021"]);
  const { runRequest } = await import("../../agent/mod.ts");
  return await runRequest(world, { method, path, body: body.join(" "), port: Number(port) });
}

const VERSION_PAGE: Page = {
  name: "version",
  words: "",
  description: "Print the version.",
  flags: [
    { name: "short", short: "s", help: "the number alone" },
    { name: "output", short: "o", value: "json|yaml", help: "the version as data" },
  ],
};

function version(world: World, args: readonly string[]): Promise<number> {
  const reading = read(world, args, VERSION_PAGE);
  if (reading !== undefined) world.stdout.write(`${versionText(reading)}\n`);
  return Promise.resolve(EXIT.ok);
}

/** Istio's fields; this program is no Go program, and its build is not numbered. */
const BUILD: PilotAgentVersion["clientVersion"] = {
  golang_version: "",
  revision: "unknown",
  status: "unknown",
  tag: VERSION,
  version: VERSION,
};

function versionText(reading: Reading): string {
  const output = reading.text("output");
  if (output !== undefined) return VIEWS[choiceValue("output", output, ["json", "yaml"])]();
  if (reading.isOn("short")) return `client version: ${VERSION}`;
  return `client version: version.BuildInfo{Version:"${VERSION}", GitRevision:"unknown", GolangVersion:"", ` +
    `BuildStatus:"unknown", GitTag:"${VERSION}"}`;
}

const VIEWS = {
  json: () => JSON.stringify({ clientVersion: BUILD } satisfies PilotAgentVersion, null, 2),
  yaml: () =>
    ["clientVersion:", ...Object.entries(BUILD).map(([key, value]) => `  ${key}: ${value === "" ? '""' : value}`)].join(
      "\n",
    ),
};
