/** Runs `webhook serve`, from startup to graceful shutdown. */
import { EXIT } from "../base/errors.ts";
import { type LogOptions, startLog } from "../platform/log.ts";
import type { PermissionName, World } from "../platform/mod.ts";
import { maxOpenFiles } from "../platform/open_files.ts";
import { startupMemory } from "../platform/startup_memory.ts";
import { asksCluster, openSources, type SourceOptions } from "./open_sources.ts";
import { reviewPod } from "./review/review_pod.ts";
import type { ListenAddress } from "../platform/serving/listen_address.ts";
import { type ShutdownSignals, shutdownSignals, SIGNAL_EXIT } from "../platform/serving/shutdown_signals.ts";
import { startReviewServer } from "./server/start.ts";
import { startStatusServer } from "./server/status.ts";

/** Maximum milliseconds for rendering the templates of a pod. Rendering blocks other reviews and probes. */
const MAX_REVIEW = 1000;

export interface ServeOptions extends SourceOptions {
  /** Address for reviews, over HTTPS. */
  readonly listen: ListenAddress;
  /** Address for probes and metrics, over plain HTTP. */
  readonly plainListen: ListenAddress;
  /** Milliseconds between SIGTERM and closing the port, so that clients notice that the server is not ready. */
  readonly shutdownDelay: number;
  /** Milliseconds to wait for reviews in flight after `shutdownDelay`. */
  readonly shutdownTimeout: number;
  readonly log: LogOptions;
}

/** Deno permissions during startup. `ffi` is needed to load the C library. */
const AT_START: readonly PermissionName[] = ["read", "env", "net", "ffi"];
/** Additional permissions during startup if the cluster is used, because exec plugins may provide credentials. */
const TO_ASK_A_CLUSTER: readonly PermissionName[] = ["run", "write"];
/** Deno permissions while the servers run. */
const AT_WORK: readonly PermissionName[] = ["read", "env", "net"];

/**
 * Serves reviews until a signal arrives. Returns the exit code. A second signal skips the graceful shutdown. Rejects with a
 * `MeshError` if the webhook cannot start.
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
  const releaseMemory = startupMemory(world);
  const openFiles = await maxOpenFiles(world);
  world.permissions.keepOnly(asksCluster(options) ? [...AT_START, ...TO_ASK_A_CLUSTER] : AT_START);
  /** Resources to close at the end, in reverse order. */
  await using open = new AsyncDisposableStack();

  // Start answering probes before waiting for the cluster.
  const status = await startStatusServer(world, log, options.plainListen);
  open.defer(() => status.close());
  log.debug(`Opening configuration and certificate; probes and metrics on port ${status.port}`);

  // Configuration and certificate, from files or from the cluster.
  const opening = openSources(world, log, options, status.waitsBecause);
  const sources = await Promise.race([opening, signals.first]);
  if (typeof sources === "string") {
    // Close sources that open after the signal.
    opening.then((late) => late.close(), () => {});
    return SIGNAL_EXIT[sources];
  }
  open.defer(() => sources.close());
  const { injector, certificate, cluster } = sources;

  // Reviews. Each review uses the newest configuration and the latest cluster state.
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
  void releaseMemory(end.signal);

  // Shutdown. After SIGTERM and SIGHUP, the webhook is not ready but keeps serving for a while, because new connections arrive
  // until Kubernetes has removed the endpoint from the Service. SIGINT, which a person sends with Ctrl+C, skips the delay.
  const signal = await signals.first;
  server.terminate(`received ${signal}`);
  server.tls.drain();
  log.info(`Received ${signal}, draining reviews in flight`);
  if (signal !== "SIGINT") await world.clock.sleep(options.shutdownDelay, signals.hurry);
  const isDone = await server.tls.close(options.shutdownTimeout);
  if (!isDone) {
    log.warn(`Closing connections, although some reviews were not answered within ${options.shutdownTimeout} ms`);
  }
  log.info("The webhook has stopped");
  return EXIT.ok;
}
