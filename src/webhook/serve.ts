/** `webhook serve`: from its options to its end. */
import { EXIT } from "../core/errors.ts";
import { type Logger, type LogOptions, startLog } from "../core/log.ts";
import type { PermissionName, World } from "../core/world/mod.ts";
import { asksCluster, type OpenSources, openSources, type SourceOptions } from "./sources/open.ts";
import { isOpenShift, reviewPod } from "./review/mod.ts";
import { type Endings, endings, type EndingSignal, SIGNAL_EXIT } from "./server/shutdown_signals.ts";
import { type Addresses, type Servers, startServers } from "./server/start.ts";
import { openStatus, type StatusServer } from "./server/status.ts";
import { ReviewPool } from "./workers/mod.ts";

/** What `webhook serve` is told. */
export interface ServeOptions extends Addresses, SourceOptions {
  /** Milliseconds from SIGTERM until no more connections are taken: in them clients learn that it is not ready. */
  readonly shutdownDelay: number;
  /** Milliseconds that reviews under way are waited for then. */
  readonly shutdownTimeout: number;
  /** Processes that answer reviews beside this one; as many as are good for this machine unless told. */
  readonly workers?: number | undefined;
  readonly log: LogOptions;
}

/** The C library is opened when the servers start, and programs may give credentials; no review has come by then. */
const AT_START: readonly PermissionName[] = ["read", "env", "net", "ffi"];
const TO_ASK_A_CLUSTER: readonly PermissionName[] = ["run", "write"];
const AT_WORK: readonly PermissionName[] = ["read", "env", "net"];
/** A worker that ended has to be started again. */
const WITH_WORKERS: readonly PermissionName[] = ["run"];
/** Each costs some 100 MB: with more the memory of the Deployment in the manifests would not do. */
const MOST_WORKERS = 2;

/** Serves reviews until a signal; returns the exit code. Rejects with a `MeshError` if it cannot start. */
export async function serveWebhook(world: World, options: ServeOptions): Promise<number> {
  const log = startLog(world, "webhook", options.log);
  const workers = options.workers ?? usualWorkers(world);
  const more = [...asksCluster(options) ? TO_ASK_A_CLUSTER : [], ...workers > 0 ? WITH_WORKERS : []];
  world.permissions.keepOnly([...new Set([...AT_START, ...more])]);
  const signals = endings(world);
  const status = onceOpened(world, log, options);
  try {
    const code = await serveWith(world, log, options, { signals, workers, status: status.open });
    return await Promise.race([status.close().then(() => code), signals.second]);
  } catch (error) {
    await status.close();
    throw error;
  } finally {
    signals.stop();
  }
}

/** The plain server: opened by the first who needs it, and closed if it was. */
function onceOpened(world: World, log: Logger, { plainListen }: ServeOptions) {
  let opened: Promise<StatusServer> | undefined;
  return {
    open: () => opened ??= openStatus(world, log, plainListen),
    close: async () => await (await opened?.catch(() => undefined))?.close(),
  };
}

/** Waits for what reviews depend on, however long that takes, or for a signal. Meanwhile probes are answered. */
async function serveWith(world: World, log: Logger, options: ServeOptions, start: Start): Promise<number> {
  const opening = openSources(world, log, options, async () => {
    const { port } = await start.status();
    log.debug(`The cluster is asked; the port for probes and metrics is ${port}`);
  });
  const sources = await Promise.race([opening, start.signals.first]);
  if (typeof sources !== "string") return await serveFrom(world, log, options, { ...start, sources });
  // As a cluster that does not answer may be waited for.
  opening.then((late) => late.close(), () => {});
  return SIGNAL_EXIT[sources];
}

/**
 * A review that goes to another process takes 1.6 times the processor time: with fewer processors than these one process is
 * as fast, and smaller.
 */
const MANY_PROCESSORS = 4;

function usualWorkers({ machine }: World): number {
  return machine.processors < MANY_PROCESSORS ? 0 : MOST_WORKERS;
}

/** What is there from the start. */
interface Start {
  readonly status: () => Promise<StatusServer>;
  readonly workers: number;
  readonly signals: Endings;
}

async function serveFrom(
  world: World,
  log: Logger,
  options: ServeOptions,
  start: Start & { readonly sources: OpenSources },
): Promise<number> {
  const { signals, sources, workers, status } = start;
  const pool = await openPool(world, log, sources, workers);
  try {
    const servers = await startServers(world, log, options, { sources, pool, status: await status() });
    const more = [...sources.permissions, ...workers > 0 ? WITH_WORKERS : []];
    world.permissions.keepOnly([...new Set([...AT_WORK, ...more])]);
    const signal = await signals.first;
    return await Promise.race([end(world, log, options, { signals, servers, signal }), signals.second]);
  } finally {
    await pool.close();
    sources.close();
  }
}

function openPool(world: World, log: Logger, { injector, cluster }: OpenSources, count: number): Promise<ReviewPool> {
  return ReviewPool.open(world, {
    count,
    log,
    facts: () => ({
      injector: injector.current(),
      proxyConfigs: cluster?.proxyConfigs,
      nodes: cluster?.nodes,
      namespaces: isOpenShift(injector.current()) ? cluster?.namespaceUsers ?? NOBODY : NOBODY,
    }),
    answer: (body, path) => reviewPod(body, { ...cluster, injector: injector.current(), path }),
  });
}

const NOBODY = {};

/** What is there when the end begins. */
interface Ending {
  readonly signals: Endings;
  readonly servers: Servers;
  readonly signal: EndingSignal;
}

/**
 * First it is not ready and goes on: until Kubernetes has taken it out of the Service, new connections come. A person who
 * interrupts it does not wait for that.
 */
async function end(world: World, log: Logger, options: ServeOptions, ending: Ending): Promise<number> {
  const { signals, servers, signal } = ending;
  servers.end(`received ${signal}`);
  servers.tls.discourage();
  log.info(`Received ${signal}: not ready from now on, ends when the reviews under way are answered`);
  if (signal === "SIGTERM") await world.clock.sleep(options.shutdownDelay, signals.hurry);
  const isDone = await servers.tls.close(options.shutdownTimeout);
  if (!isDone) log.warn(`Some reviews were not answered in ${options.shutdownTimeout} ms: their connections are cut`);
  log.info("The webhook has ended");
  return EXIT.ok;
}
