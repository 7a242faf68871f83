/** Connects to istiod. */
import { errorLine, MeshError } from "../../base/errors.ts";
import { dialEndpoint, type GrpcEndpoint } from "../grpc/mod.ts";
import { type ByteConnection, unlessAborted, type World } from "../../platform/mod.ts";
import type { Identity } from "../identity/mod.ts";
import type { XdsOptions, XdsRoots } from "./options.ts";
import { requestFailure } from "../../platform/request_failure.ts";
import type { LazyModules } from "./extensions.ts";
import type { ConnectionStatus } from "./connection_status.ts";

/** Returns istiod's address with the current certificate and roots. */
export async function controlPlaneEndpoint(
  world: World,
  { address, tls, identity }: Pick<XdsOptions, "address" | "tls" | "identity">,
): Promise<GrpcEndpoint> {
  if (tls === undefined) return { address, tls };
  const authorities = await rootsOf(world, tls.roots, identity);
  return { address, tls: { serverName: tls.serverName, authorities, identity: identity?.workload() } };
}

/**
 * Returns the root certificates. Reads the file for each connection, because it may have changed and connections are
 * rare.
 */
async function rootsOf(world: World, roots: XdsRoots, identity: Identity | undefined): Promise<string | undefined> {
  if (roots.from === "system") return undefined;
  if (roots.from === "file") return await world.files.readText(roots.file);
  const texts: string[] = [];
  for (const file of roots.files) {
    if (await world.files.stat(file) !== undefined) texts.push(await world.files.readText(file));
  }
  const own = identity?.roots();
  if (own !== undefined) texts.push(own);
  if (texts.length > 0) return texts.join("\n");
  throw new MeshError(`No root certificates to verify the control plane: "${roots.files.at(-1)}" does not exist`, {
    hint: 'mount the ConfigMap "istio-ca-root-cert" there, or set XDS_ROOT_CA',
  });
}

/** Waits for the first certificate. Resolves with `false` on timeout or abort. */
async function firstCertificate(identity: Identity, milliseconds: number, signal: AbortSignal): Promise<boolean> {
  const { promise, resolve } = Promise.withResolvers<void>();
  const unsubscribe = identity.subscribe(() => identity.workload() !== undefined && resolve());
  try {
    await unlessAborted(promise, AbortSignal.any([signal, AbortSignal.timeout(milliseconds)]));
    return true;
  } catch {
    // A timeout or an abort.
    return false;
  } finally {
    unsubscribe();
  }
}

const CERTIFICATE_TIMEOUT = 60_000;

export interface UpstreamContext {
  readonly world: World;
  readonly options: XdsOptions;
  readonly connection: ConnectionStatus;
  readonly modules: LazyModules | undefined;
  readonly signal: AbortSignal;
}

/** Connects to istiod, after the first certificate if needed. Rejects with a MeshError that names the failed step. */
export async function connectUpstream(upstream: UpstreamContext): Promise<ByteConnection> {
  try {
    await untilCertificate(upstream);
    const endpoint = await controlPlaneEndpoint(upstream.world, upstream.options);
    const outer = await dialEndpoint(upstream.world.network, endpoint, upstream.signal);
    upstream.connection.connected();
    upstream.options.connected?.();
    return outer;
  } catch (error) {
    if (!upstream.signal.aborted) {
      upstream.connection.failed(problemOf(error));
      upstream.options.metrics?.connectionFailed();
    }
    throw error;
  }
}

/**
 * Waits for a certificate. Without one, istiod would reject the proxy, and Envoy would then back off for longer than
 * this wait.
 */
async function untilCertificate({ options, connection, signal }: UpstreamContext): Promise<void> {
  const { identity, address, tls, certificateTimeout = CERTIFICATE_TIMEOUT } = options;
  if (tls === undefined || identity === undefined || identity.workload() !== undefined) return;
  connection.waiting(`waiting for the workload's certificate before connecting to "${address}"`);
  if (await firstCertificate(identity, certificateTimeout, signal)) return;
  const why = identity.problem()?.replace(/^No certificate( yet)?: /, "") ?? "the reason is unknown";
  throw new MeshError(
    `No certificate for the connection to "${address}" within ${certificateTimeout / 1000}s: ${why}`,
  );
}

/** Returns an error's text, to be appended to a line. */
export function problemOf(error: unknown): string {
  return error instanceof MeshError ? errorLine(error) : requestFailure(error, 0).text;
}
