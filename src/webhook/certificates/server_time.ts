/** Reads the API server's time, because the API server verifies certificates by its own clock. */
import { ApiError, type KubeConnection } from "../../kube/client/mod.ts";
import type { Clock } from "../../platform/world.ts";

/**
 * Returns the API server's time, to the second (RFC 9110, Date), or this machine's time if the server does not send one. With a
 * wrong local clock, certificates could be not valid yet, or be renewed too early.
 */
export async function serverTime(api: Pick<KubeConnection, "raw">, clock: Pick<Clock, "now">): Promise<Date> {
  const time = Date.parse(await dateOf(api));
  return Number.isNaN(time) ? clock.now() : new Date(time);
}

async function dateOf(api: Pick<KubeConnection, "raw">): Promise<string> {
  try {
    return (await api.raw("/version")).date ?? "";
  } catch (error) {
    // Ignore the error: if the server is unreachable, the next request fails with a better message.
    if (error instanceof ApiError) return "";
    throw error;
  }
}
