import { UsageError } from "../../base/errors.ts";
import { flag, type FlagGroups, TIMER, variable } from "../../golang/flags/mod.ts";
import type { World } from "../../platform/world.ts";
import type { WaitOptions } from "../../wait/mod.ts";
import { command, type Input } from "../command.ts";
import { LOG } from "../log_flags.ts";

/** Maximum duration of a timer: 24 days, in seconds. */
const LONGEST_SECONDS = 24 * 24 * 3600;

const FLAGS = {
  "Readiness": {
    timeout: flag("--timeout TIME", "Maximum time to wait; 0 means a single request", { ...TIMER, defaultDoc: "1m0s" }),
    period: flag("--period TIME", "Maximum interval between two requests", { ...TIMER, least: 1, defaultDoc: "100ms" }),
    requestTimeout: flag("--request-timeout TIME", "Timeout of one request", {
      ...TIMER,
      least: 1,
      defaultDoc: "500ms",
    }),
    urls: flag("--url URL", "URL to request; all URLs must be ready", {
      type: "urls",
      defaultDoc: "http://localhost:15021/healthz/ready",
    }),
    onTimeout: flag(
      "--on-timeout fail|continue",
      "Action after --timeout: exit with 1, or continue without the proxy",
      {
        default: "fail",
      },
    ),
    disabled: variable(
      "MESH_WAIT_DISABLED",
      "If not empty, start COMMAND without waiting; the value states the reason",
    ),
  },
  "Command": {
    shutdown: flag("--shutdown", "Run COMMAND as a child process, and ask the proxy to quit when COMMAND exits"),
    quitUrl: flag("--quit-url URL", "URL that asks the proxy to quit", {
      type: "url",
      defaultDoc: "http://localhost:15020/quitquitquit",
    }),
    quitOn: flag(
      "--quit-on always|success",
      "When to ask the proxy to quit: always, or only if COMMAND exited with 0",
      {
        default: "always",
      },
    ),
  },
  "Log": { quiet: flag("-q, --quiet", "Print errors only"), ...LOG },
  // pilot-agent's names for some of the flags above.
  "Old": {
    timeoutSeconds: flag("--timeoutSeconds NUMBER", "Seconds to wait", {
      type: "integer",
      most: LONGEST_SECONDS,
      hidden: true,
    }),
    periodMillis: flag("--periodMillis NUMBER", "Milliseconds between two requests", {
      type: "integer",
      least: 1,
      most: LONGEST_SECONDS * 1000,
      hidden: true,
    }),
    requestTimeoutMillis: flag("--requestTimeoutMillis NUMBER", "Timeout of one request, in milliseconds", {
      type: "integer",
      least: 1,
      most: LONGEST_SECONDS * 1000,
      hidden: true,
    }),
  },
} as const satisfies FlagGroups;

export const WAIT = command({
  summary: "Wait until the proxy of this pod is ready, then become a command",
  description:
    "Wait until the proxy is ready, then replace this process with COMMAND, which keeps the process ID, signals " +
    "and terminal. Prints nothing if the proxy is ready. A timeout prints how far the proxy got. Ready means " +
    "status 200, after redirects.",
  usage: "[flags] [-- COMMAND ARGS]",
  takesCommand: true,
  surplusHint: 'give the command to run after "--"',
  examples: [
    { command: "kubectl-mesh wait -- /app/server --port 8080" },
    { command: "kubectl-mesh wait --timeout 2m --on-timeout continue -- /app/server" },
    { title: "A Job whose proxy exits when the work is done", command: "kubectl-mesh wait --shutdown -- ./migrate.sh" },
  ],
  flags: FLAGS,
  exits: {
    ok: "ready",
    failed: "timeout",
    usage: true,
    notExecutable: true,
    notFound: true,
    interrupted: "SIGINT while waiting",
    terminated: "SIGTERM while waiting",
    other: "the exit code of COMMAND; 128 + signal if a signal ended it with --shutdown",
  },
  run: wait,
});

type Flags = Input<typeof FLAGS>["flags"];

async function wait(world: World, { flags, rest: command }: Input<typeof FLAGS>): Promise<number> {
  const { shutdown, quitUrl, quitOn, onTimeout } = flags;
  if (shutdown && command.length === 0) {
    throw new UsageError("The flag --shutdown needs a command", { hint: 'give the command after "--"' });
  }
  const { DEFAULTS, logReporter, runWait } = await import("../../wait/mod.ts");
  const options = {
    urls: flags.urls.length === 0 ? [DEFAULTS.url] : [...new Set(flags.urls)],
    ...timesOf(flags, DEFAULTS),
    onTimeout,
    command,
    shutdown: shutdown ? { url: quitUrl ?? DEFAULTS.quitUrl, when: quitOn } : undefined,
  };
  const log = { format: flags.logFormat, level: flags.logLevel, quiet: flags.quiet };
  return await runWait(world, options, await logReporter(world, log));
}

type Times = Pick<WaitOptions, "timeout" | "period" | "requestTimeout">;

/** Returns the times. This program's flags override pilot-agent's flags. */
function timesOf(flags: Flags, defaults: Times): Times {
  const { timeoutSeconds, periodMillis, requestTimeoutMillis } = flags;
  return {
    timeout: flags.timeout ?? (timeoutSeconds === undefined ? defaults.timeout : timeoutSeconds * 1000),
    period: flags.period ?? periodMillis ?? defaults.period,
    requestTimeout: flags.requestTimeout ?? requestTimeoutMillis ?? defaults.requestTimeout,
  };
}
