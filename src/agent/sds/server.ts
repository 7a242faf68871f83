/** The SDS server, on the Unix socket that Envoy's bootstrap names. */
import { errorLine, MeshError } from "../../base/errors.ts";
import { type Logger, logText } from "../../platform/log.ts";
import type { UnixServer, World } from "../../platform/mod.ts";
import type { Identity } from "../identity/mod.ts";
import type { FileMetrics } from "../metrics/control_plane_metrics.ts";
import { fileSecret } from "./file_secrets.ts";
import { secretHandler } from "./handler.ts";
import { type OpenSecret, parseSecretName, type SecretSource } from "./secret.ts";
import type { SecretStream } from "./stream.ts";

/** Mode of the socket. Envoy may run as another user; the folder restricts access. */
const SOCKET_MODE = 0o666;

export interface SdsOptions {
  readonly path: string;
  /** `undefined` if another program serves the workload's identity; the agent then serves file secrets only. */
  readonly identity: Identity | undefined;
  readonly log: Logger;
  readonly metrics?: FileMetrics | undefined;
}

/**
 * Serves secrets until closed. Listen errors are only logged and reported by `problem`, because some proxies need no
 * identity.
 */
export async function startSds(world: World, options: SdsOptions) {
  const { path, log, identity, metrics } = options;
  const open: OpenSecret = (name, changed) => {
    const parsed = parseSecretName(name);
    if (parsed?.kind === "pair" || parsed?.kind === "authorities") {
      return fileSecret({ files: world.files, log, metrics, name, changed }, parsed);
    }
    return parsed && identity && identitySecret(identity, parsed.kind, changed);
  };
  const streams = new Set<SecretStream>();
  const handler = secretHandler({ open, log, nextVersion: versions(world), streams });
  log.info(logText(
    identity === undefined
      ? `Another program serves the workload's certificate: serving file secrets only, on "${path}"`
      : `Starting to serve secrets on "${path}"`,
  ));
  const server = await listen(world, path, handler, log);
  return {
    /** Returns why the server cannot listen, or which secret Envoy rejects and why; `undefined` without a problem. */
    problem: () => typeof server === "string" ? server : [...streams].map(({ refusal }) => refusal).findLast(Boolean),
    async close(): Promise<void> {
      for (const stream of streams) stream.end();
      if (typeof server !== "string") await server.close();
    },
  };
}

/** Serves the secret `default` or `ROOTCA` of the workload itself. */
function identitySecret(identity: Identity, kind: "workload" | "roots", changed: () => void): SecretSource {
  return {
    current() {
      const [pair, authorities] = [identity.workload(), identity.roots()];
      if (kind === "workload") return pair && { kind: "pair", ...pair };
      return authorities === undefined ? undefined : { kind: "authorities", authorities };
    },
    problem: () => identity.problem(),
    close: identity.subscribe((each) => each === kind && changed()),
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

/** Returns a generator of versions in Istio's form: `2026-01-02T03:04:05Z/1` and so on. */
function versions({ clock }: World): () => string {
  let count = 0;
  return () => `${clock.now().toISOString().replace(/\.\d+Z$/, "Z")}/${++count}`;
}
