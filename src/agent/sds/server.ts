/** The SDS server, on the Unix socket that Envoy's bootstrap names. */
import { errorLine, MeshError } from "../../base/errors.ts";
import { type Logger, logText } from "../../platform/log.ts";
import type { UnixServer, World } from "../../platform/mod.ts";
import type { FileMetrics } from "../metrics/control_plane_metrics.ts";
import { fileSecret } from "./file_secrets.ts";
import { secretHandler } from "./handler.ts";
import { identitySecret, type SdsIdentity } from "./identity_secrets.ts";
import { type OpenSecret, parseSecretName } from "./secret.ts";
import type { SecretStream } from "./stream.ts";

/** Mode of the socket. Envoy may run as another user; the folder restricts access. */
const SOCKET_MODE = 0o666;
/** Timeout in milliseconds for detecting another SDS server. Source: Istio's agent. */
const DIAL_TIMEOUT = 1000;

export interface SdsOptions {
  readonly path: string;
  /** The socket for file secrets, if another program serves `path`. */
  readonly filesPath: string;
  /** `undefined` if another program serves the workload's identity; the agent then serves file secrets only. */
  readonly identity: SdsIdentity | undefined;
  readonly log: Logger;
  readonly metrics?: FileMetrics | undefined;
}

/**
 * Serves secrets until closed. Listen errors are only logged and reported by `problem`, because some proxies need no
 * identity.
 */
export async function startSds(world: World, options: SdsOptions) {
  const { log, identity, metrics } = options;
  const isExternal = identity === undefined || await isServed(world, options.path);
  const path = isExternal ? options.filesPath : options.path;
  const open: OpenSecret = (name, changed) => {
    const parsed = parseSecretName(name);
    if (parsed === undefined) return undefined;
    if (parsed.kind === "pair" || parsed.kind === "authorities") {
      return fileSecret({ files: world.files, log, metrics, name, changed }, parsed);
    }
    return isExternal ? undefined : identitySecret(identity, parsed.kind, changed);
  };
  const streams = new Set<SecretStream>();
  const handler = secretHandler({ open, log, nextVersion: versions(world), streams });
  log.info(logText(
    isExternal
      ? `Another program serves the workload's certificate on "${options.path}": serving file secrets only, on "${path}"`
      : `Starting to serve secrets on "${path}"`,
  ));
  const server = await listen(world, path, handler, log);
  const lastRefusal = () => [...streams].findLast((stream) => stream.refusal !== undefined)?.refusal;
  return {
    isExternal,
    /** Returns a secret that Envoy rejects, with the reason; `undefined` if Envoy accepts all secrets. */
    lastRefusal,
    problem: () => typeof server === "string" ? server : lastRefusal(),
    async close(): Promise<void> {
      for (const stream of streams) stream.end();
      if (typeof server !== "string") await server.close();
    },
  };
}

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

/** Whether a server accepts connections on a socket file. A file alone does not count. */
async function isServed({ network, clock }: World, path: string): Promise<boolean> {
  const end = new AbortController();
  const late = clock.sleep(DIAL_TIMEOUT, end.signal).then(() => false);
  const isServed = await Promise.race([network.isServed(path), late]);
  end.abort();
  return isServed;
}

/** Returns a generator of versions in Istio's form: `2026-01-02T03:04:05Z/1` and so on. */
function versions({ clock }: World): () => string {
  let count = 0;
  return () => `${clock.now().toISOString().replace(/\.\d+Z$/, "Z")}/${++count}`;
}
