/** The agent: reads the settings, starts the status server and runs Envoy. */
import { type Logger, logText, startLog } from "../platform/log.ts";
import { startupMemory } from "../platform/startup_memory.ts";
import type { World } from "../platform/world.ts";
import { VERSION } from "../version.ts";
import type { ControlPlane } from "./control_plane.ts";
import { refuseFips } from "./fips.ts";
import { checkBinary } from "./envoy/binary.ts";
import { envoyOptions, lifecycleRules, watchedFiles } from "./lifecycle_options.ts";
import type { LifecycleControl } from "./lifecycle/options.ts";
import type { Phase } from "./lifecycle/state.ts";
import { runLifecycle } from "./lifecycle/run.ts";
import { openFilesWarning, startLines } from "./startup_log.ts";
import { type ApplyRules, ownerOfProcess, redirectArguments } from "./redirect.ts";
import type { ProgramName } from "./settings/command_line.ts";
import { type AgentSettings, readSettings } from "./settings/read.ts";
import { startStatusServer, type StatusServer } from "./status/server.ts";
import { stopCode } from "./stop_code.ts";

/** Polling interval of watched files, in milliseconds. */
const WATCH_INTERVAL = 1000;

/**
 * Runs the proxy until it ends. Resolves with the exit code: Envoy's own code (128 + signal) if Envoy exited by itself,
 * the code from `stopCode` after a signal, otherwise 0. Throws UsageError and MeshError for invalid settings, or if
 * Envoy cannot be started. `applyRules` applies the rules for `--redirect-traffic`. Keeps all of Deno's permissions:
 * without them, Deno denies access to `/proc` and `/sys`, which are needed for reaping orphans and for memory metrics.
 */
export async function runAgent(
  world: World,
  args: readonly string[],
  name: ProgramName,
  applyRules: ApplyRules,
): Promise<number> {
  const settings = await readSettings(world, args, { name });
  refuseFips(settings);
  if (!settings.envoy.isDisabled) await checkBinary(world, settings.envoy.binaryPath);
  const log = startLog(world, "agent", settings.log);
  logStart(log, settings);
  if (settings.redirectTraffic) {
    const owner = await ownerOfProcess(world);
    const code = await applyRules(redirectArguments(world.env.all(), settings.ports, owner));
    if (code !== 0) return code;
  }
  const fewFiles = await openFilesWarning(world);
  if (fewFiles !== undefined) log.warning(fewFiles);
  const control: { current: LifecycleControl | undefined } = { current: undefined };
  const controlPlane = lazyControlPlane(world, settings, log, async () => await (await serving)?.problem());
  const serving = settings.ports.status === 0 ? undefined : startStatusServer(world, {
    ...statusOptions(settings, log),
    controlPlane: controlPlane.current,
    terminating: () => shutdownReason(control.current?.phase()),
    onQuit: () => control.current?.send("quit", { by: "POST /quitquitquit" }),
    onDrain: () => control.current?.send("drain", { by: "POST /drain" }),
  });
  const status: { current: StatusServer | undefined } = { current: undefined };
  let wasLive = settings.envoy.isDisabled;
  try {
    serving?.then((server) => status.current = server);
    serving?.then(({ metrics }) => metrics.register(() => controlPlane.current()?.collect() ?? []));
    if (settings.envoy.isDisabled) {
      controlPlane.start();
      startupMemory(world)();
    }
    return await runLifecycle(world, {
      envoy: settings.envoy.isDisabled
        ? undefined
        : envoyOptions(world, settings, { args, name, log, before: controlPlane.start }),
      rules: lifecycleRules(settings),
      watch: settings.watch ? { paths: watchedFiles(settings), milliseconds: WATCH_INTERVAL } : undefined,
      log,
      attach: (lifecycle) => control.current = lifecycle,
      stopCode: (signal) => stopCode(signal, { wasReady: status.current?.wasReady(), wasLive }),
      changed(phase) {
        wasLive ||= phase === "running";
        if (phase === "starting") serving?.then((server) => server.forgetReadiness());
        if (phase === "running") startupMemory(world)();
      },
    });
  } finally {
    await controlPlane.close();
    await (await serving)?.close();
  }
}

/**
 * Starts the components of `control_plane.ts` when the first Envoy starts. Signals are handled by then, so a signal
 * cannot leave a socket file behind.
 */
function lazyControlPlane(
  world: World,
  settings: AgentSettings,
  log: Logger,
  envoyProblem: () => Promise<string | undefined>,
) {
  let starting: Promise<void> | undefined;
  let current: ControlPlane | undefined;
  async function begin(): Promise<void> {
    const { startControlPlane } = await import("./control_plane.ts");
    current = await startControlPlane(world, settings, log, envoyProblem);
  }
  return {
    current: () => current,
    start: () => starting ??= begin(),
    async close() {
      // The caller of `start` handles a failed start; `close` must not fail as well.
      await starting?.catch(() => {});
      await current?.close();
    },
  };
}

function logStart(log: Logger, settings: AgentSettings): void {
  for (const warning of settings.warnings) log.warning(logText(warning));
  for (const line of startLines(settings)) log.info(logText(line));
}

function statusOptions(settings: AgentSettings, logger: Logger) {
  const { ports, envoy, ipMode, metrics, probes, instanceIp } = settings;
  const admin = {
    adminHost: ipMode === "ipv6" ? "::1" : "127.0.0.1",
    adminPort: ports.admin,
    metricsPort: metrics.mergeEnvoyStats ? ports.prometheus : undefined,
  } as const;
  return {
    port: ports.status,
    logger: logger.getChild("status"),
    version: VERSION,
    envoy: envoy.isDisabled ? undefined : admin,
    application: {
      probers: probes.probers,
      host: probes.legacyLocalhost || instanceIp === "" ? "localhost" : instanceIp,
      isHttp2Offered: probes.http2,
    },
    scrapeTargets: metrics.scrapeTargets,
    areMetricsLocal: metrics.localhostOnly,
  };
}

const ENDING: readonly Phase[] = ["draining", "terminating", "killing", "ended"];

/**
 * Returns why a proxy is not ready because of its phase; `undefined` in phases that allow readiness. As in Istio, a
 * proxy that drains without a shutdown (`drained`) is not ready.
 */
function shutdownReason(phase: Phase | undefined): string | undefined {
  if (phase === undefined) return undefined;
  return ENDING.includes(phase) || phase === "drained" ? `the proxy is ${phase}` : undefined;
}
