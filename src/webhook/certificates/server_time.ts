/** The time that counts for certificates: the API server verifies them by its own clock. */
import { ApiError, type KubeConnection } from "../../kube/client/mod.ts";
import type { Clock } from "../../platform/world.ts";

/**
 * The time of the API server, in seconds (RFC 9110, Date). This machine's if the server does not say: a clock that was set
 * wrong would otherwise make certificates that are not valid yet, or renew all of them at once.
 */
export async function serverTime(api: Pick<KubeConnection, "raw">, clock: Pick<Clock, "now">): Promise<Date> {
  const time = Date.parse(await dateOf(api));
  return Number.isNaN(time) ? clock.now() : new Date(time);
}

async function dateOf(api: Pick<KubeConnection, "raw">): Promise<string> {
  try {
    return (await api.raw("/version")).date ?? "";
  } catch (error) {
    // A server that cannot be reached fails the requests that follow, with its own message.
    if (error instanceof ApiError) return "";
    throw error;
  }
}
