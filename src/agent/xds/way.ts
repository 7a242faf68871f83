/** What a connection of Envoy's needs to get to the control plane. */
import { errorLine, MeshError } from "../../core/errors.ts";
import { requestFailure } from "../../core/request_failure.ts";
import type { ByteConnection, World } from "../../core/world/mod.ts";
import { firstCertificate } from "./first_certificate.ts";
import type { Health } from "./health.ts";
import type { XdsOptions } from "./options.ts";
import { connectUpstream } from "./upstream.ts";

const CERTIFICATE_PATIENCE = 60_000;

/** What all connections share. */
export interface Way {
  readonly world: World;
  readonly options: XdsOptions;
  readonly health: Health;
  /** Fires when the proxy is closed. */
  readonly signal: AbortSignal;
}

/**
 * A connection to the control plane, after the first certificate if it is needed. Rejects with a MeshError that says how far
 * it came, which `health` is told.
 */
export async function wayUp(way: Way): Promise<ByteConnection> {
  try {
    await untilCertificate(way);
    const outer = await connectUpstream(way.world, way.options, way.signal);
    way.health.connected();
    return outer;
  } catch (error) {
    if (!way.signal.aborted) way.health.failed(problemOf(error));
    throw error;
  }
}

/** Without its certificate the control plane would refuse the proxy, for which Envoy pauses longer than for this. */
async function untilCertificate({ options, health, signal }: Way): Promise<void> {
  const { identity, address, tls, certificatePatience = CERTIFICATE_PATIENCE } = options;
  if (tls === undefined || identity === undefined || identity.workload() !== undefined) return;
  health.waiting(`"${address}" is not asked before the workload has its certificate`);
  if (await firstCertificate(identity, certificatePatience, signal)) return;
  throw new MeshError(`There is no certificate to connect to "${address}" with, after ${certificatePatience / 1000}s`);
}

/** An error as the rest of a line. */
export function problemOf(error: unknown): string {
  return error instanceof MeshError ? errorLine(error) : requestFailure(error, 0).text;
}
