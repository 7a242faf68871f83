/** The server of secrets, on a Unix socket that Envoy knows from its bootstrap. */
import { errorLine, MeshError } from "../../core/errors.ts";
import { type Logger, logText } from "../../core/log.ts";
import type { UnixServer, World } from "../../core/world/mod.ts";
import { fileSecrets } from "./file_secrets.ts";
import { secretHandler } from "./handler.ts";
import { identitySecrets, type SdsIdentity } from "./identity_secrets.ts";
import type { Secrets } from "./secret.ts";
import type { SecretStream } from "./stream.ts";

/** Whoever reaches the folder may connect: Envoy may be another user. */
const SOCKET_MODE = 0o666;
/** How long a program that serves the socket may take to accept a connection, in milliseconds. Source: Istio's agent. */
const DIAL_PATIENCE = 1000;

/** What the server is told. */
export interface SdsOptions {
  /** Envoy asks here for all secrets, unless another program serves this socket (such as SPIRE's agent). */
  readonly path: string;
  /** Envoy asks here for secrets in files then. */
  readonly filesPath: string;
  /** `undefined` if another program is known to serve the workload's identity: then files alone are served. */
  readonly identity: SdsIdentity | undefined;
  readonly log: Logger;
}

/** A server that runs, or one that could not be started. */
export interface Sds {
  /** Whether another program serves the workload's identity. */
  readonly isExternal: boolean;
  /** Which secret Envoy refuses, and its reason; `undefined` when it refuses none, or has gone. */
  lastRefusal(): string | undefined;
  /** Why proxies get no secrets, or do not take them; `undefined` when all is well. */
  problem(): string | undefined;
  /** Ends all streams and removes the socket. */
  close(): Promise<void>;
}

/**
 * Serves secrets until it is closed. A socket that cannot be had is logged, told by `problem` and no error: a proxy whose
 * configuration needs no identity is of use without.
 */
export async function startSds(world: World, options: SdsOptions): Promise<Sds> {
  const { log, identity } = options;
  const isExternal = identity === undefined || await isServed(world, options.path);
  const path = isExternal ? options.filesPath : options.path;
  const sources = [fileSecrets(world.files, log), ...(isExternal ? [] : [identitySecrets(identity)])];
  const streams = new Set<SecretStream>();
  const handler = secretHandler({ secrets: firstOf(sources), log, nextVersion: versions(world), streams });
  log.info(logText(
    isExternal
      ? `Another program serves the workload's certificates on "${options.path}": secrets in files are served on "${path}"`
      : `Starting to serve secrets on "${path}"`,
  ));
  const server = await listen(world, path, handler, log);
  const lastRefusal = () => [...streams].findLast((stream) => stream.refusal !== undefined)?.refusal;
  return {
    isExternal,
    lastRefusal,
    problem: () => typeof server === "string" ? server : lastRefusal(),
    async close() {
      for (const stream of streams) stream.end();
      if (typeof server !== "string") await server.close();
    },
  };
}

/** The server, or why there is none. */
async function listen(
  { network }: World,
  path: string,
  handler: (request: Request) => Response,
  log: Logger,
): Promise<UnixServer | string> {
  try {
    return await network.serveUnix({ path, mode: SOCKET_MODE }, handler);
  } catch (error) {
    if (!(error instanceof MeshError)) throw error;
    const problem = `Envoy gets no certificates: ${errorLine(error)}`;
    log.error(logText(problem));
    return problem;
  }
}

/** A socket file that was left behind is none that is served, nor one that nobody accepts on. */
async function isServed({ network, clock }: World, path: string): Promise<boolean> {
  const end = new AbortController();
  const late = clock.sleep(DIAL_PATIENCE, end.signal).then(() => false);
  const isServed = await Promise.race([network.isServed(path), late]);
  end.abort();
  return isServed;
}

function firstOf(all: readonly Secrets[]): Secrets {
  return {
    open(name, changed) {
      for (const secrets of all) {
        const source = secrets.open(name, changed);
        if (source !== undefined) return source;
      }
      return undefined;
    },
  };
}

/** `2026-01-02T03:04:05Z/1` and so on, as Istio has them. */
function versions({ clock }: World): () => string {
  let count = 0;
  return () => `${clock.now().toISOString().replace(/\.\d+Z$/, "Z")}/${++count}`;
}
