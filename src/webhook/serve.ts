/** `webhook serve`: from its options to its end. */
import { EXIT } from "../core/errors.ts";
import { type Logger, type LogOptions, startLog } from "../core/log.ts";
import type { PermissionName, World } from "../core/world/mod.ts";
import { asksCluster, type OpenSources, openSources, type SourceOptions } from "./open_sources.ts";
import { type Endings, endings, type EndingSignal, SIGNAL_EXIT } from "./server/endings.ts";
import { type Addresses, type Servers, startServers } from "./server/start.ts";

/** What `webhook serve` is told. */
export interface ServeOptions extends Addresses, SourceOptions {
  /** Milliseconds from SIGTERM until no more connections are taken: in them clients learn that it is not ready. */
  readonly shutdownDelay: number;
  /** Milliseconds that reviews under way are waited for then. */
  readonly shutdownTimeout: number;
  readonly log: LogOptions;
}

/** The C library is opened when the servers start, and programs may give credentials; no review has come by then. */
const AT_START: readonly PermissionName[] = ["read", "env", "net", "ffi"];
const TO_ASK_A_CLUSTER: readonly PermissionName[] = ["run", "write"];
const AT_WORK: readonly PermissionName[] = ["read", "env", "net"];

/** Serves reviews until a signal; returns the exit code. Rejects with a `MeshError` if it cannot start. */
export async function serveWebhook(world: World, options: ServeOptions): Promise<number> {
  const log = startLog(world, "webhook", options.log);
  world.permissions.keepOnly([...AT_START, ...asksCluster(options) ? TO_ASK_A_CLUSTER : []]);
  const signals = endings(world);
  try {
    const opening = openSources(world, log, options);
    const sources = await Promise.race([opening, signals.first]);
    if (typeof sources !== "string") return await serveFrom(world, log, options, { signals, sources });
    // As a cluster that does not answer may be waited for.
    opening.then((late) => late.close(), () => {});
    return SIGNAL_EXIT[sources];
  } finally {
    signals.stop();
  }
}

/** What is there when the servers start. */
interface Start {
  readonly signals: Endings;
  readonly sources: OpenSources;
}

async function serveFrom(world: World, log: Logger, options: ServeOptions, start: Start): Promise<number> {
  const { signals, sources } = start;
  try {
    const servers = await startServers(world, log, options, sources);
    world.permissions.keepOnly([...new Set([...AT_WORK, ...sources.permissions])]);
    const signal = await signals.first;
    return await Promise.race([end(world, log, options, { signals, servers, signal }), signals.second]);
  } finally {
    sources.close();
  }
}

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
  await servers.plain.close();
  log.info("The webhook has ended");
  return EXIT.ok;
}
