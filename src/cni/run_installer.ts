/**
 * Runs `iptables cni install`, which installs the plugin on a node, repairs the installation, and removes it at exit.
 */
import { errorText, EXIT } from "../base/errors.ts";
import { connect, type KubeApi } from "../kube/client/mod.ts";
import { type Logger, logText, startLog } from "../platform/log.ts";
import type { World } from "../platform/mod.ts";
import { startupMemory } from "../platform/startup_memory.ts";
import { shutdownSignals } from "../platform/serving/shutdown_signals.ts";
import { KUBECONFIG } from "./plugin/read_pod.ts";
import { repairPods } from "./repair/repair.ts";
import { PLUGIN } from "./install/conflist.ts";
import { accountFiles, writeCredentials } from "./install/credentials.ts";
import { install, uninstall } from "./install/install.ts";
import type { InstallOptions } from "./install/options.ts";
import { type InstallStatus, startStatus } from "./install/status.ts";
import { setTaint } from "./install/taint.ts";
import { stayingOf } from "./install/upgrade.ts";

/** Milliseconds between checks of the files. A change takes effect once the files stay the same for one interval. */
const INTERVAL = 1000;
/** Milliseconds until the retry of a failed installation, if the files do not change. */
const RETRY = 5000;
/** Number of restorations in a minute after which the log warns that another program removes the plugin. */
const MANY = 5;
const MINUTE = 60_000;
const REQUEST = 5000;

/** Runs until a signal and returns the exit code. Rejects with a `MeshError` if the status ports cannot be bound. */
export async function runInstaller(world: World, options: InstallOptions): Promise<number> {
  const log = startLog(world, "cni-install", options.log);
  const signals = shutdownSignals(world);
  const status = await startStatus(world, log, [options.health, options.metrics]);
  const end = new AbortController();
  void startupMemory(world)(end.signal);
  try {
    const work = keepInstalled({ world, log, options, status }, end.signal);
    const ended = await Promise.race([signals.first, signals.second, work]);
    end.abort();
    status.set(`received ${ended}`);
    return await Promise.race([finish({ world, log, options, status }, work), signals.second]);
  } finally {
    signals.stop();
    await status.close();
  }
}

interface Context {
  readonly world: World;
  readonly log: Logger;
  readonly options: InstallOptions;
  readonly status: InstallStatus;
}

async function keepInstalled(context: Context, signal: AbortSignal): Promise<void> {
  const { world, log, options, status } = context;
  await changeTaint(context, true);
  let wake = () => {};
  const watched = [options.netFolder, `${options.binFolder}/${PLUGIN}`, ...accountFiles(options)];
  const stop = world.files.watch(watched, INTERVAL, () => wake());
  const restored: number[] = [];
  let wasReady = false;
  let last: string | undefined;
  try {
    while (!signal.aborted) {
      const changed = new AbortController();
      wake = () => changed.abort();
      const { result, problem, changed: isRestored } = await install(world, log, options);
      status.installs.add({ result });
      status.set(problem);
      if (problem !== last && problem !== undefined) log.error(logText(problem));
      last = problem;
      if (wasReady && isRestored) warnOfOthers(context, restored);
      if (problem === undefined && !wasReady) {
        wasReady = true;
        log.info("The plugin is installed");
        void removeTaint(context, signal);
        void repair(context, signal);
      }
      await world.clock.sleep(problem === undefined ? 2 ** 31 - 1 : RETRY, AbortSignal.any([changed.signal, signal]));
    }
  } finally {
    stop();
  }
}

/** Sets or removes the taint of `--node-taint`. Logs a failure and returns false. */
async function changeTaint(context: Context, wanted: boolean): Promise<boolean> {
  const { node, taint: key } = context.options;
  if (key === undefined) return true;
  const change = async (api: KubeApi) => {
    await setTaint(api, node, key, wanted);
    return true;
  };
  return await useApi(context, wanted ? "taint the node" : "remove the taint of the node", change) ?? false;
}

/** Removes the taint, and retries until this succeeds, because a tainted node gets no pods. */
async function removeTaint(context: Context, signal: AbortSignal): Promise<void> {
  while (!signal.aborted && !await changeTaint(context, false)) await context.world.clock.sleep(RETRY, signal);
}

/** Warns if another program keeps removing the plugin. */
function warnOfOthers({ world, log }: Context, restored: number[]): void {
  const now = world.clock.monotonic();
  restored.push(now);
  while ((restored[0] ?? now) < now - MINUTE) restored.shift();
  if (restored.length !== MANY) {
    return log.info("Another program changed the network configuration; the plugin has been added again");
  }
  log.warn(
    "Another program keeps removing the plugin from the network configuration; with Cilium, set cni.exclusive=false",
  );
}

/** Repairs pods until the signal. Logs a failure, and the installer continues. */
async function repair(context: Context, signal: AbortSignal): Promise<void> {
  const { world, log, options, status } = context;
  const { repair: mode, node, repairLabel: label, hostProc, nativeNftables } = options;
  if (mode === undefined) return;
  await useApi(context, "repair pods", (api) =>
    repairPods(
      { world, log, api, repairs: status.repairs },
      { mode, node, hostProc, label, nativeNftables },
      signal,
    ));
}

/** Removes the plugin unless it must stay. Returns the exit code. */
async function finish(context: Context, work: Promise<void>): Promise<number> {
  const { world, log, options } = context;
  await work;
  const decision = options.stays
    ? { stays: true, reason: "--stay" }
    : await useApi(context, "read the DaemonSet", (api) => stayingOf(api, options.namespace, options.daemonSet));
  const { stays, reason } = decision ?? { stays: true, reason: "the API server cannot be reached" };
  if (stays) {
    log.info(logText(`The plugin stays on the node: ${reason}`));
    return EXIT.ok;
  }
  await uninstall(world, log, options);
  log.info(logText(`The plugin has been removed: ${reason}`));
  return EXIT.ok;
}

/** Calls `use` with a client for the plugin's kubeconfig. Logs a failure and returns `undefined`. */
async function useApi<T>(context: Context, what: string, use: (api: KubeApi) => Promise<T>): Promise<T | undefined> {
  const { world, log, options } = context;
  try {
    await writeCredentials(world, options);
    const api = await connect(world, { kubeconfig: `${options.runFolder}/${KUBECONFIG}`, requestTimeout: REQUEST });
    try {
      return await use(api);
    } finally {
      api.close();
    }
  } catch (error) {
    log.error(logText(`Cannot ${what}: ${errorText(error)}`));
    return undefined;
  }
}
