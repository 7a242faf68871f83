/** `webhook serve`: from its options to its graceful shutdown. */
import { EXIT } from "../base/errors.ts";
import { maxOpenFiles } from "../platform/open_files.ts";
import { type Logger, type LogOptions, startLog } from "../platform/log.ts";
import type { PermissionName, World } from "../platform/mod.ts";
import { isOpenShift } from "../inject/mod.ts";
import { asksCluster, type OpenSources, openSources, type SourceOptions } from "./sources/open.ts";
import { ReviewMemo } from "./review/memo/memo.ts";
import { startupMemory } from "./release_memory.ts";
import { reviewPod } from "./review/review_pod.ts";
import { type ShutdownSignal, type ShutdownSignals, shutdownSignals, SIGNAL_EXIT } from "./server/shutdown_signals.ts";
import { type Addresses, type Servers, startServers } from "./server/start.ts";
import { openStatus, type StatusServer } from "./server/status.ts";
import { ReviewPool } from "./workers/pool.ts";

/** The options of `webhook serve`. */
export interface ServeOptions extends Addresses, SourceOptions {
  /** Milliseconds from SIGTERM until the server stops accepting connections: clients learn meanwhile that it is not ready. */
  readonly shutdownDelay: number;
  /** Milliseconds to wait for reviews in flight after that. */
  readonly shutdownTimeout: number;
  /** Worker processes that answer reviews; by default as many as suit this machine. */
  readonly workers?: number | undefined;
  readonly log: LogOptions;
}

/** Until the servers run: they open the C library, and exec plugins may provide credentials. */
const AT_START: readonly PermissionName[] = ["read", "env", "net", "ffi"];
const TO_ASK_A_CLUSTER: readonly PermissionName[] = ["run", "write"];
const AT_WORK: readonly PermissionName[] = ["read", "env", "net"];
/** To restart workers. */
const WITH_WORKERS: readonly PermissionName[] = ["run"];
/** Each has some 100 MB; the memory limit of the Deployment allows no more. */
const MOST_WORKERS = 2;

/** Serves reviews until a signal; returns the exit code. Rejects with a `MeshError` if it cannot start. */
export async function serveWebhook(world: World, options: ServeOptions): Promise<number> {
  const log = startLog(world, "webhook", options.log);
  const workers = options.workers ?? usualWorkers(world);
  const release = startupMemory(world);
  const openFiles = await maxOpenFiles(world);
  const more = [...asksCluster(options) ? TO_ASK_A_CLUSTER : [], ...workers > 0 ? WITH_WORKERS : []];
  world.permissions.keepOnly([...new Set([...AT_START, ...more])]);
  const signals = shutdownSignals(world);
  const status = onceOpened(world, log, options);
  try {
    const code = await serveWith(world, log, options, { signals, workers, status, release, openFiles });
    return await Promise.race([status.close().then(() => code), signals.second]);
  } catch (error) {
    await status.close();
    throw error;
  } finally {
    signals.stop();
  }
}

/** The status server: opened on first use, and closed if it was opened. */
function onceOpened(world: World, log: Logger, { plainListen }: ServeOptions) {
  let opened: Promise<StatusServer> | undefined;
  let problem: () => string | undefined = () => undefined;
  return {
    open: () => opened ??= openStatus(world, log, plainListen, () => problem()),
    because: (next: () => string | undefined) => void (problem = next),
    close: async () => await (await opened?.catch(() => undefined))?.close(),
  };
}

/** Waits for the sources without a limit, or for a signal. Probes are answered meanwhile. */
async function serveWith(world: World, log: Logger, options: ServeOptions, start: Start): Promise<number> {
  const opening = openSources(world, log, options, {
    async begins() {
      const { port } = await start.status.open();
      log.debug(`Connecting to the cluster; probes and metrics on port ${port}`);
    },
    because: start.status.because,
  });
  const sources = await Promise.race([opening, start.signals.first]);
  if (typeof sources !== "string") return await serveFrom(world, log, options, { ...start, sources });
  // The cluster may answer later.
  opening.then((late) => late.close(), () => {});
  return SIGNAL_EXIT[sources];
}

/** A review in a worker takes 1.6 times the processor time: on fewer processors one process is as fast, and smaller. */
const MANY_PROCESSORS = 4;

function usualWorkers({ machine }: World): number {
  return machine.processors < MANY_PROCESSORS ? 0 : MOST_WORKERS;
}

/** What exists before the sources. */
interface Start {
  readonly status: ReturnType<typeof onceOpened>;
  readonly workers: number;
  readonly signals: ShutdownSignals;
  readonly openFiles: number | undefined;
  readonly release: ReturnType<typeof startupMemory>;
}

async function serveFrom(
  world: World,
  log: Logger,
  options: ServeOptions,
  start: Start & { readonly sources: OpenSources },
): Promise<number> {
  const { signals, sources, workers, status, openFiles } = start;
  const pool = await openPool(world, log, sources, workers);
  const end = new AbortController();
  try {
    const servers = await startServers(world, log, options, { sources, pool, status: await status.open(), openFiles });
    const more = [...sources.permissions, ...workers > 0 ? WITH_WORKERS : []];
    world.permissions.keepOnly([...new Set([...AT_WORK, ...more])]);
    void start.release(end.signal);
    const signal = await signals.first;
    return await Promise.race([shutDown(world, log, options, { signals, servers, signal }), signals.second]);
  } finally {
    end.abort();
    await pool.close();
    sources.close();
  }
}

function openPool(world: World, log: Logger, { injector, cluster }: OpenSources, count: number): Promise<ReviewPool> {
  const memo = new ReviewMemo();
  return ReviewPool.open(world, {
    count,
    log,
    inputs: () => ({
      injector: injector.current(),
      proxyConfigs: cluster?.proxyConfigs,
      nodes: cluster?.nodes,
      namespaces: isOpenShift(injector.current()) ? cluster?.namespaceUsers ?? NOBODY : NOBODY,
    }),
    answer: (body, path) => reviewPod(body, { ...cluster, injector: injector.current(), path }, memo),
  });
}

const NOBODY = {};

/** What a shutdown needs. */
interface Shutdown {
  readonly signals: ShutdownSignals;
  readonly servers: Servers;
  readonly signal: ShutdownSignal;
}

/**
 * Drains. After SIGTERM and SIGHUP it is not ready and serves on for a while: new connections arrive until Kubernetes has removed the
 * endpoint from the Service. SIGINT, from a person, skips that.
 */
async function shutDown(world: World, log: Logger, options: ServeOptions, shutdown: Shutdown): Promise<number> {
  const { signals, servers, signal } = shutdown;
  servers.terminate(`received ${signal}`);
  servers.tls.drain();
  log.info(`Received ${signal}: not ready, draining reviews in flight`);
  if (signal !== "SIGINT") await world.clock.sleep(options.shutdownDelay, signals.hurry);
  const isDone = await servers.tls.close(options.shutdownTimeout);
  if (!isDone) log.warn(`Some reviews were not answered within ${options.shutdownTimeout} ms: closing connections`);
  log.info("The webhook has stopped");
  return EXIT.ok;
}
