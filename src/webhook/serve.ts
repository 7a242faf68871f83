/** `webhook serve`: from its options to its graceful shutdown. */
import { EXIT } from "../base/errors.ts";
import { type LogOptions, startLog } from "../platform/log.ts";
import type { PermissionName, World } from "../platform/mod.ts";
import { maxOpenFiles } from "../platform/open_files.ts";
import { releaseStartupMemory, startupMemoryReleaser } from "../platform/startup_memory.ts";
import { asksCluster, openSources, type SourceOptions } from "./open_sources.ts";
import { reviewPod } from "./review/review_pod.ts";
import type { ListenAddress } from "../platform/serving/listen_address.ts";
import { type ShutdownSignals, shutdownSignals, SIGNAL_EXIT } from "../platform/serving/shutdown_signals.ts";
import { startReviewServer } from "./server/start.ts";
import { startStatusServer } from "./server/status.ts";

/** Maximum milliseconds to render the templates of a pod. Other reviews and probes wait meanwhile. */
const MAX_REVIEW = 1000;

/** The options of `webhook serve`. */
export interface ServeOptions extends SourceOptions {
  /** Where reviews are answered, over HTTPS. */
  readonly listen: ListenAddress;
  /** Where probes and metrics are answered, over HTTP. */
  readonly plainListen: ListenAddress;
  /** Milliseconds from SIGTERM until the server stops accepting connections: clients learn meanwhile that it is not ready. */
  readonly shutdownDelay: number;
  /** Milliseconds to wait for reviews in flight after that. */
  readonly shutdownTimeout: number;
  readonly log: LogOptions;
}

/** Permissions until the servers run: starting them opens the C library. */
const AT_START: readonly PermissionName[] = ["read", "env", "net", "ffi"];
/** Also at start, to contact a cluster: exec plugins may provide credentials. */
const TO_ASK_A_CLUSTER: readonly PermissionName[] = ["run", "write"];
/** Permissions while the servers run. */
const AT_WORK: readonly PermissionName[] = ["read", "env", "net"];

/**
 * Serves reviews until a signal; returns the exit code. A second signal ends it at once. Rejects with a `MeshError` if it
 * cannot start.
 */
export async function serveWebhook(world: World, options: ServeOptions): Promise<number> {
  const signals = shutdownSignals(world);
  try {
    return await Promise.race([serve(world, options, signals), signals.second]);
  } finally {
    signals.stop();
  }
}

async function serve(world: World, options: ServeOptions, signals: ShutdownSignals): Promise<number> {
  const log = startLog(world, "webhook", options.log);
  const releaseMemory = startupMemoryReleaser(world.system);
  const openFiles = await maxOpenFiles(world);
  world.permissions.keepOnly(asksCluster(options) ? [...AT_START, ...TO_ASK_A_CLUSTER] : AT_START);
  /** What is open, closed in reverse order at the end. */
  await using open = new AsyncDisposableStack();

  // Probes are answered while the cluster is waited for.
  const status = await startStatusServer(world, log, options.plainListen);
  open.defer(() => status.close());
  log.debug(`Opening configuration and certificate; probes and metrics on port ${status.port}`);

  // Configuration and certificate, from files or from the cluster.
  const opening = openSources(world, log, options, status.waitsBecause);
  const sources = await Promise.race([opening, signals.first]);
  if (typeof sources === "string") {
    // Closes sources that open after the signal.
    opening.then((late) => late.close(), () => {});
    return SIGNAL_EXIT[sources];
  }
  open.defer(() => sources.close());
  const { injector, certificate, cluster } = sources;

  // Reviews. Each sees the newest configuration, and what is known of the cluster.
  const review = (body: Uint8Array, path: string) => {
    const end = world.clock.monotonic() + MAX_REVIEW;
    const isLate = () => world.clock.monotonic() > end;
    return reviewPod(body, { ...cluster, injector: injector.current(), path, isLate });
  };
  const { listen } = options;
  const server = await startReviewServer(world, log, { listen, injector, certificate, review, status, openFiles });
  world.permissions.keepOnly([...AT_WORK, ...sources.permissions]);
  const end = new AbortController();
  open.defer(() => end.abort());
  if (releaseMemory !== undefined) void releaseStartupMemory(world.clock, releaseMemory, end.signal);

  // Shutdown. After SIGTERM and SIGHUP it is not ready and serves on for a while: new connections arrive until Kubernetes has
  // removed the endpoint from the Service. SIGINT, from a person, skips that.
  const signal = await signals.first;
  server.terminate(`received ${signal}`);
  server.tls.drain();
  log.info(`Received ${signal}: not ready, draining reviews in flight`);
  if (signal !== "SIGINT") await world.clock.sleep(options.shutdownDelay, signals.hurry);
  const isDone = await server.tls.close(options.shutdownTimeout);
  if (!isDone) log.warn(`Some reviews were not answered within ${options.shutdownTimeout} ms: closing connections`);
  log.info("The webhook has stopped");
  return EXIT.ok;
}
